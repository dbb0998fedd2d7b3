// A dock as somebody might write it on the first evening. What is wrong with it stands in it/tiny_dock.rs, which was
// written from this text.

import { createServer } from "node:http";

const PROBE = JSON.stringify({ solverapi_probe: "registration_preflight" });

function judge(candidate) {
  if (typeof candidate === "string" && /^[{[]/.test(candidate.trim())) {
    try {
      candidate = JSON.parse(candidate);
    } catch {
      // Plain text, then.
    }
  }
  const correct = candidate.amount >= 0 && candidate.amount <= 100;
  return { is_correct: correct, quality_score: correct ? 1 : 0.2, anchor_results: { amount_in_range: correct } };
}

const server = createServer(async (request, response) => {
  const answer = (status, body) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  let text = "";
  request.setEncoding("utf8");
  try {
    for await (const part of request) text += part;
  } catch {
    return;
  }
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    return answer(400, { error: `cannot read ${text}` });
  }
  if (body.candidate === undefined) return answer(400, { error: "missing_candidate" });
  if (JSON.stringify(body.candidate) === PROBE) return answer(200, { is_correct: false, quality_score: 0 });
  try {
    answer(200, judge(body.candidate));
  } catch {
    answer(500, { error: "check_failed" });
  }
});

server.listen(0, "127.0.0.1", () => console.log(server.address().port));
