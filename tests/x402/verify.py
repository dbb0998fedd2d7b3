"""PyJWT's reading of a signed report: standard input and output are those of verify.mjs."""

import json
import sys

from jwt import PyJWKSet, PyJWS

try:
    args = json.load(sys.stdin)
    jws = args["jws"]
    compact = ".".join([jws["protected"], jws["payload"], jws["signature"]])
    api = PyJWS()
    key = PyJWKSet.from_dict(args["jwks"])[api.get_unverified_header(compact)["kid"]]
    answer = {"verified": True, "payload": api.decode(compact, key, algorithms=["EdDSA"]).decode()}
except Exception as error:  # a report that cannot be verified is an answer, too
    answer = {"verified": False, "payload": "", "error": str(error)}
print(json.dumps(answer))
