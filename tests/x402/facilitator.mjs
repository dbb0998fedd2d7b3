// The stock x402 facilitator of @x402/svm over plain HTTP, on a stub Solana RPC in the same process. Nothing here
// reaches a network but loopback, and the fee payer's key is made at start.
//
//   POST /verify, /settle   {x402Version, paymentPayload, paymentRequirements}; GET /supported: as facilitators answer
//   POST /rpc               the stub chain; clients get this URL too
//   GET  /log               {verifyCalls, verified, settleCalls, settled: [transaction ids in the order they landed]}
//   POST /control           sets any of `control` below; answers all of them
//
// The first line on standard output is {"port", "feePayer", "rpcUrl", "url"}. The process ends when its standard input
// does, so that none is left behind by a test that was killed: start it with a pipe there.
import { createServer } from "node:http";
import { stock } from "./modules.mjs";

const { x402Facilitator } = stock("@x402/core/facilitator");
const {
  toFacilitatorSvmSigner,
  SOLANA_DEVNET_CAIP2,
  SOLANA_MAINNET_CAIP2,
  TOKEN_PROGRAM_ADDRESS,
  USDC_DEVNET_ADDRESS,
  USDC_MAINNET_ADDRESS,
} = stock("@x402/svm");
const { registerExactSvmScheme } = stock("@x402/svm/exact/facilitator");
const {
  generateKeyPairSigner,
  getBase58Decoder,
  getBase64Encoder,
  getPublicKeyFromAddress,
  getTransactionDecoder,
  verifySignature,
} = stock("@solana/kit");

const control = {
  // Reason with which every verification fails, before the scheme looks at it.
  verifyFail: null,
  // Milliseconds that an answer waits after verification or settlement was done.
  verifyDelayMs: 0,
  settleDelayMs: 0,
  // Reason with which every settlement fails before anything is sent to the chain.
  settleFail: null,
  // true: a transaction lands, but is never seen as confirmed, so settle answers settlement_pending (v1:
  // transaction_failed). A number: so many times.
  settlePending: false,
  // The chain refuses every transaction that is sent.
  sendFail: false,
  // HTTP status of answers that say isValid or success is false; facilitators differ here.
  failureStatus: 200,
};
const log = { verifyCalls: 0, verified: 0, settleCalls: 0, settled: [] };
const base58 = (bytes) => getBase58Decoder().decode(bytes);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- The stub chain: every balance suffices, every transaction with true signatures lands at once.

const blockhash = base58(crypto.getRandomValues(new Uint8Array(32)));
const context = { apiVersion: "2.0.0", slot: 1 };
const FINALIZED = { slot: 1, confirmations: null, err: null, status: { Ok: null }, confirmationStatus: "finalized" };
const MINTS = [USDC_DEVNET_ADDRESS, USDC_MAINNET_ADDRESS];
const decode = (base64) => getTransactionDecoder().decode(getBase64Encoder().encode(base64));

/** An SPL mint as its account's 82 bytes: six decimals, initialized, no authorities. */
function mint() {
  const bytes = Buffer.alloc(82);
  bytes.writeBigUInt64LE(10n ** 15n, 36);
  bytes[44] = 6;
  bytes[45] = 1;
  const data = [bytes.toString("base64"), "base64"];
  return { data, executable: false, lamports: 1461600, owner: TOKEN_PROGRAM_ADDRESS, rentEpoch: 0, space: 82 };
}

/** Lands a transaction as a validator would: only if every signature is there and true; twice is once. */
async function land(base64) {
  const { messageBytes, signatures } = decode(base64);
  for (const [address, signature] of Object.entries(signatures)) {
    const key = await getPublicKeyFromAddress(address);
    if (!signature || !(await verifySignature(key, signature, messageBytes)))
      throw { code: -32003, message: "Transaction signature verification failure" };
  }
  if (control.sendFail) throw { code: -32002, message: "Transaction simulation failed: insufficient funds" };
  const id = base58(Object.values(signatures)[0]);
  if (!log.settled.includes(id)) log.settled.push(id);
  return id;
}

const rpc = {
  getAccountInfo: ([address]) => ({ context, value: MINTS.includes(address) ? mint() : null }),
  getLatestBlockhash: () => ({ context, value: { blockhash, lastValidBlockHeight: 1000 } }),
  simulateTransaction: ([base64]) => {
    decode(base64);
    return { context, value: { err: null, logs: [], accounts: null, unitsConsumed: 6000, returnData: null } };
  },
  sendTransaction: ([base64]) => land(base64),
  getSignatureStatuses: ([ids]) => ({
    context,
    value: ids.map((id) => (log.settled.includes(id) ? FINALIZED : null)),
  }),
};

async function answerRpc({ id, method, params }) {
  try {
    if (!rpc[method]) throw { code: -32601, message: `Method not found: ${method}` };
    return { jsonrpc: "2.0", id, result: await rpc[method](params ?? []) };
  } catch (error) {
    return { jsonrpc: "2.0", id, error: { code: error.code ?? -32602, message: error.message } };
  }
}

// ---- The stock facilitator.

async function facilitator(feePayer, rpcUrl) {
  const signer = toFacilitatorSvmSigner(feePayer, { defaultRpcUrl: rpcUrl });
  const patient = {
    ...signer,
    // The stock signer polls for 30 s before it gives up; the end is the same.
    confirmTransaction: async (id, network) => {
      if (control.settlePending) {
        if (typeof control.settlePending === "number") control.settlePending -= 1;
        throw new Error("Transaction confirmation timeout");
      }
      await signer.confirmTransaction(id, network);
    },
  };
  const abort = (reason) => (reason ? { abort: true, reason } : undefined);
  const networks = [SOLANA_DEVNET_CAIP2, SOLANA_MAINNET_CAIP2];
  return registerExactSvmScheme(new x402Facilitator(), { signer: patient, networks })
    .onBeforeVerify(async () => abort(control.verifyFail))
    .onBeforeSettle(async () => abort(control.settleFail));
}

async function verify(stockFacilitator, { paymentPayload, paymentRequirements }) {
  log.verifyCalls += 1;
  const answer = await stockFacilitator.verify(paymentPayload, paymentRequirements);
  if (answer.isValid) log.verified += 1;
  await wait(control.verifyDelayMs);
  return [answer.isValid ? 200 : control.failureStatus, answer];
}

async function settle(stockFacilitator, { paymentPayload, paymentRequirements }) {
  log.settleCalls += 1;
  let answer;
  try {
    answer = await stockFacilitator.settle(paymentPayload, paymentRequirements);
  } catch (error) {
    // Where a hook stops a verification the library answers, where it stops a settlement it throws.
    if (!error.message.startsWith("Settlement aborted: ")) throw error;
    const errorReason = error.message.replace("Settlement aborted: ", "");
    answer = { success: false, errorReason, network: paymentRequirements.network, transaction: "" };
  }
  await wait(control.settleDelayMs);
  return [answer.success ? 200 : control.failureStatus, answer];
}

// ---- HTTP.

function setControl(changes) {
  const unknown = Object.keys(changes).filter((name) => !(name in control));
  if (unknown.length) return [400, { error: `no such control: ${unknown}` }];
  return [200, Object.assign(control, changes)];
}

async function body(request) {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return JSON.parse(text);
}

async function route(request, stockFacilitator) {
  switch (`${request.method} ${request.url}`) {
    case "POST /rpc":
      return [200, await answerRpc(await body(request))];
    case "GET /supported":
      return [200, stockFacilitator.getSupported()];
    case "GET /log":
      return [200, log];
    case "POST /control":
      return setControl(await body(request));
    case "POST /verify":
    case "POST /settle": {
      const sent = await body(request);
      if (!sent.paymentPayload || !sent.paymentRequirements)
        return [400, { error: "Missing paymentPayload or paymentRequirements" }];
      return request.url === "/verify" ? verify(stockFacilitator, sent) : settle(stockFacilitator, sent);
    }
    default:
      return [404, { error: "Not found" }];
  }
}

const server = createServer(async (request, response) => {
  let status, answer;
  try {
    [status, answer] = await route(request, await ready);
  } catch (error) {
    [status, answer] = [500, { error: error.message }];
  }
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
});
const feePayer = await generateKeyPairSigner();
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const { port } = server.address();
const url = `http://127.0.0.1:${port}`;
const ready = facilitator(feePayer, `${url}/rpc`);
console.log(JSON.stringify({ port, feePayer: feePayer.address, rpcUrl: `${url}/rpc`, url }));
process.stdin.resume().on("end", () => process.exit(0));
