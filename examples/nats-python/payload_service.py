"""A tool service of the older protocol version (v1r3), where identity stands in the payload: standard Python, no headers of ours.

    python3 payload_service.py

It follows the older guide step by step: subscribe, read the `tool.call` card, run, save the `tool.result` card, report it with the
eight callback fields. `payload_tool.yaml` is its definition. The guide's `cardbox` and `publish_tool_result_report` are the three
questions of `Plane`. TOOLPLANE_NATS_URL, TOOLPLANE_PROJECT, TOOLPLANE_TARGET and TOOLPLANE_NATS_INBOX say where.
"""

import json
import os
import queue
import secrets
import sys
from datetime import datetime, timezone

from natswire import Nats, NoAnswer, log

VERSION = "v1r3"
ASK_SECONDS = 10
REQUIRED = ("agent_id", "agent_turn_id", "turn_epoch", "tool_call_id", "tool_call_card_id", "tool_name", "after_execution")
INLINE = ("args", "arguments", "result")


class Refused(Exception):
    """The plane says no."""


class Plane:
    """The guide's `cardbox` and `publish_tool_result_report`, over request and reply."""

    def __init__(self, nats, project, target):
        self.nats, self.project, self.target = nats, project, target

    def ask(self, operation, channel, body, headers=None):
        subject = f"cg.{VERSION}.{self.project}.{channel}.rpc.gateway.{self.target}.{operation}"
        reply = self.nats.request(subject, json.dumps(body).encode(), headers, timeout=ASK_SECONDS)
        answer = json.loads(reply.data)
        if int(reply.headers.get("CG-Status", "500")) >= 300:
            raise Refused(f"{operation}: {answer['error']['code']}: {answer['error']['message']}")
        return answer

    def get_card(self, channel, command):
        return self.ask("get_card", channel, command)

    def save_card(self, channel, card):
        return self.ask("put_card", channel, card)

    def report(self, channel, payload, traceparent):
        return self.ask("report", channel, payload, {"traceparent": traceparent} if traceparent else None)


def child_span(traceparent):
    """The same trace, a span of our own."""
    parts = (traceparent or "").split("-")
    return f"00-{parts[1]}-{secrets.token_hex(8)}-01" if len(parts) == 4 else None


def count_vowels(arguments):
    return {"vowels": sum(letter in "aeiou" for letter in arguments["text"].lower())}


def outcome_of(arguments):
    try:
        return "success", count_vowels(arguments), None
    except Exception as error:  # whatever a tool raises is a failed result, not the end of the service
        fault = {"code": "internal_error", "message": str(error)}
        return "failed", {"error_code": fault["code"], "error_message": fault["message"], "error": fault}, fault


def handle(plane, message):
    channel = message.subject.split(".")[3]
    command = json.loads(message.data)
    missing = [field for field in REQUIRED if command.get(field) in (None, "")]
    inline = [field for field in INLINE if field in command]
    if missing or inline:
        return log(f"a command is dropped: missing {missing}, inline {inline}")
    card = plane.get_card(channel, command)
    status, result, error = outcome_of(card["content"].get("arguments") or {})
    lineage = {key: card["metadata"][key] for key in ("trace_id", "parent_step_id", "step_id") if key in card["metadata"]}
    result_card = {
        "card_id": secrets.token_hex(16),
        "project_id": plane.project,
        "type": "tool.result",
        "content": {
            "__type__": "ToolResultContent",
            "status": status,
            "after_execution": command["after_execution"],
            "result": result,
            "error": error,
        },
        "created_at": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
        "author_id": f"tool.{plane.target}",
        "metadata": {
            **lineage,
            "agent_turn_id": command["agent_turn_id"],
            "tool_call_id": command["tool_call_id"],
            "function_name": command["tool_name"],
            "role": "tool",
        },
        "tool_call_id": command["tool_call_id"],
    }
    plane.save_card(channel, result_card)
    unchanged = {key: command[key] for key in ("tool_call_id", "agent_turn_id", "agent_id", "turn_epoch", "after_execution")}
    callback = {**unchanged, "status": status, "tool_result_card_id": result_card["card_id"], "step_id": lineage.get("step_id")}
    plane.report(channel, callback, child_span(message.headers.get("traceparent")))
    return log(f"call {command['tool_call_id']}: {status}")


def main():
    url = os.environ.get("TOOLPLANE_NATS_URL", "nats://127.0.0.1:4222")
    project = os.environ.get("TOOLPLANE_PROJECT", "demo")
    target = os.environ.get("TOOLPLANE_TARGET", "vowels")
    nats, heard = Nats(url, f"tool {target}", os.environ.get("TOOLPLANE_NATS_INBOX", "_INBOX")), queue.Queue()
    nats.subscribe(f"cg.{VERSION}.{project}.*.cmd.tool.{target}.>", heard.put, f"tool_{target}")
    nats.flush()
    log(f"serving count_vowels for target {target}")
    plane = Plane(nats, project, target)
    while True:
        try:
            handle(plane, heard.get())
        except (Refused, NoAnswer, ValueError, KeyError, TypeError) as problem:
            log(f"a command was not carried out: {problem!r}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
    except OSError as problem:
        sys.exit(f"cannot connect to NATS: {problem}")
