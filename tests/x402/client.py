"""The stock Python client: x402 with requests pays one POST through the exact scheme on Solana.

Standard input and output are those of client.mjs: see there. TLS trust: REQUESTS_CA_BUNDLE.
"""

import base64
import json
import os
import sys
import warnings

from requests import Response, Session
from requests.adapters import HTTPAdapter
from solders.keypair import Keypair
from x402 import x402ClientSync
from x402.http.clients.requests import x402HTTPAdapter
from x402.mechanisms.svm import KeypairSigner
from x402.mechanisms.svm.exact.register import register_exact_svm_client

# The stock scheme uses a deprecated class of its own dependency and would say so on every run.
warnings.simplefilter("ignore", FutureWarning)

PAYMENT_HEADERS = ["payment-signature", "x-payment"]
DECODED = ["payment-required", "payment-response", "x-payment-response"]

args = json.load(sys.stdin)
version, send = args.get("version", 2), args.get("send", True)
seed = bytes.fromhex(args["secretKey"]) if args.get("secretKey") else os.urandom(32)
signer = KeypairSigner(Keypair.from_seed(seed))
client = register_exact_svm_client(x402ClientSync(), signer, rpc_url=args["rpcUrl"])
said = {"requests": 0, "statuses": [], "paymentHeader": None, "paymentHeaderName": None, "payer": signer.address}


class Watched(HTTPAdapter):
    """What the stock adapter sends through; every request passes as it is."""

    def send(self, request, **kwargs):
        for name in PAYMENT_HEADERS:
            if name in request.headers:
                value = request.headers[name]
                said["paymentHeaderName"] = name
                said["paymentHeader"] = value.decode() if isinstance(value, bytes) else value
                if not send:
                    unsent = Response()
                    unsent.status_code = 204
                    unsent._content = b""  # requests has no other way to make an answer
                    return unsent
        said["requests"] += 1
        response = super().send(request, **kwargs)
        said["statuses"].append(response.status_code)
        if version == 1:
            response.headers.pop("payment-required", None)
        return response


class Paying(x402HTTPAdapter, Watched):
    """The stock adapter, whose `super().send` is now `Watched.send`."""


def decoded(headers):
    lower = {name.lower(): value for name, value in headers.items()}
    for name in DECODED:
        if name in lower:
            lower[name] = json.loads(base64.b64decode(lower[name]))
    return lower


try:
    session = Session()
    session.mount("https://", Paying(client))
    session.mount("http://", Paying(client))
    body = args.get("body", "")
    response = session.post(
        args["url"],
        data=(body if isinstance(body, str) else json.dumps(body)).encode(),
        headers={"content-type": "application/json", **args.get("headers", {})},
    )
    said["status"] = response.status_code if send or not said["paymentHeader"] else None
    said["headers"] = decoded(response.headers)
    said["body"] = response.text
except Exception as error:  # whatever made the client give up is its answer
    said["error"] = str(error)
print(json.dumps(said))
