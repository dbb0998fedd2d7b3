// The stock JavaScript client: @x402/fetch pays one POST through the exact scheme of @x402/svm.
//
// One JSON object on standard input:
//   url, rpcUrl
//   body?         a text, sent as it is, or JSON
//   secretKey?    32 bytes in hexadecimal, else a new key
//   headers?      more headers of the request
//   version? 1    a client that knows v1 only: it does not see PAYMENT-REQUIRED, so it reads the body
//                 and sends X-PAYMENT
//   send? false   the payment is made, but the request with it is not sent
// One JSON line on standard output:
//   status, headers, body               of the last answer; names in lower case, the three headers of DECODED as JSON
//   requests, statuses                  how many requests went out, and the status of each answer
//   paymentHeader, paymentHeaderName    the payment as it was sent, null if there was none
//   payer                               the client's address
//   error?                              why the client gave up, in its words; then there is no last answer
// TLS trust: NODE_EXTRA_CA_CERTS.
import { input, stock } from "./modules.mjs";

const { wrapFetchWithPayment, x402Client } = stock("@x402/fetch");
const { ExactSvmScheme } = stock("@x402/svm/exact/client");
const { ExactSvmSchemeV1, NETWORKS } = stock("@x402/svm/v1");
const { createKeyPairSignerFromPrivateKeyBytes } = stock("@solana/kit");

const PAYMENT_HEADERS = ["payment-signature", "x-payment"];
const DECODED = ["payment-required", "payment-response", "x-payment-response"];

const { url, body = "", rpcUrl, secretKey, headers = {}, version = 2, send = true } = await input();
const secret = secretKey ? Buffer.from(secretKey, "hex") : crypto.getRandomValues(new Uint8Array(32));
const signer = await createKeyPairSignerFromPrivateKeyBytes(secret);
const client = new x402Client().register("solana:*", new ExactSvmScheme(signer, { rpcUrl }));
for (const network of NETWORKS) client.registerV1(network, new ExactSvmSchemeV1(signer, { rpcUrl }));

const said = { requests: 0, statuses: [], paymentHeader: null, paymentHeaderName: null, payer: signer.address };

/** fetch, watched. The request is the wrapper's own and goes out as it is. */
async function watched(request) {
  const name = PAYMENT_HEADERS.find((header) => request.headers.has(header));
  if (name) {
    said.paymentHeaderName = name;
    said.paymentHeader = request.headers.get(name);
    if (!send) return new Response(null, { status: 204 });
  }
  said.requests += 1;
  const response = await fetch(request);
  said.statuses.push(response.status);
  if (version !== 1) return response;
  const seen = new Headers(response.headers);
  seen.delete("payment-required");
  return new Response(response.body, { status: response.status, headers: seen });
}

try {
  const response = await wrapFetchWithPayment(watched, client)(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  said.status = !send && said.paymentHeader ? null : response.status;
  said.headers = Object.fromEntries(response.headers);
  for (const name of DECODED)
    if (said.headers[name]) said.headers[name] = JSON.parse(Buffer.from(said.headers[name], "base64").toString());
  said.body = await response.text();
} catch (error) {
  said.error = error.cause ? `${error.message}: ${error.cause.message}` : error.message;
}
console.log(JSON.stringify(said));
