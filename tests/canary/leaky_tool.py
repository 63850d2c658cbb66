"""The leaky tool in Python, as a host and as a service of its own."""

import base64
import json
import logging
import os
import sys
import urllib.parse

import toolplane

VARIABLE = os.environ.get("CANARY_VARIABLE", "CANARY_PYHOST")


def forms_of(secret):
    return {
        "raw": secret,
        "base64": base64.b64encode(f"user:{secret}".encode()).decode(),
        "hex": secret.encode().hex(),
        "url": "https://api.example.com/?key=" + urllib.parse.quote(secret, safe=""),
        "json": json.dumps({"secret": secret}, ensure_ascii=False),
        "slashes": json.dumps({"secret": secret}).replace("/", "\\/"),
        "codes": "".join(f"\\u{ord(unit):04x}" for unit in secret),
    }


@toolplane.tool(name=os.environ.get("CANARY_TOOL", "leak"), secrets=[VARIABLE])
def leak(how: str, ctx: toolplane.Context) -> dict:
    "Says its secret."
    secret = ctx.secrets[VARIABLE]
    forms = forms_of(secret)
    for form in forms.values():
        logging.warning("leaks %s", form)
        ctx.emit({form: form})
        middle = (len(form) + 1) // 2
        for half in (form[:middle], form[middle:]):
            ctx.emit({"half": half})
    if how == "throw":
        raise ValueError("cannot use " + " ".join(forms.values()))
    return {**forms, secret: [secret]}


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    toolplane.serve([leak], target="pyservice")
