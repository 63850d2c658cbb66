"""A command, and questions about it to the plane's gateway over NATS (docs/reference/nats-gateway.md)."""

import json
import re
import secrets
import time

from natswire import NoAnswer, log

VERSION = "v1r4"
ASK_SECONDS = 10
STAMPS = ("CG-Timestamp", "CG-Version", "CG-Msg-Type", "CG-Sender")  # said about one message, not passed on
REQUIRED = ("CG-Agent-Id", "CG-Turn-Id", "CG-Tool-Call-Id")
INLINE = ("args", "arguments", "result")
CONTROL = """project_id channel_id channel agent_id agent_turn_id turn_epoch step_id tool_call_id trace_id traceparent tracestate
parent_agent_id parent_agent_turn_id parent_step_id parent_traceparent recursion_depth""".split()


SPAN = re.compile("[0-9a-fA-F]{2}-[0-9a-fA-F]{32}-[0-9a-fA-F]{16}-[0-9a-fA-F]{2}")


class Refused(Exception):
    """The plane says no, for good."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code, self.detail = error.get("code"), error.get("detail") or {}
        self.call_status = self.detail.get("status")


def child_span(traceparent):
    """The same trace, a span of our own."""
    parts = (traceparent or "").split("-")
    trace = parts[1] if len(parts) == 4 else secrets.token_hex(16)
    return f"00-{trace}-{secrets.token_hex(8)}-01"


class Gateway:
    """Questions to the plane, on the subjects of one project and one actor."""

    def __init__(self, nats, project, target):
        self.nats, self.place, self.target = nats, f"cg.{VERSION}.{project}", target

    def ask(self, operation, headers, body, channel="public"):
        """The answer and the server's time (ms); NoAnswer when it may be asked again, Refused when not."""
        subject = f"{self.place}.{channel}.rpc.gateway.{self.target}.{operation}"
        reply = self.nats.request(subject, json.dumps(body).encode(), headers, timeout=ASK_SECONDS)
        status = int(reply.headers.get("CG-Status", "500"))
        try:
            answer = json.loads(reply.data)
        except ValueError:
            raise NoAnswer(f"{operation} was answered with something that is not JSON") from None
        if status < 300:
            return answer, int(reply.headers.get("CG-Timestamp", "0"))
        error = answer.get("error") or {}
        if status >= 500 or status == 429 or error.get("retryable"):
            raise NoAnswer(f"{operation}: {error.get('message')}")
        raise Refused(error)

    def insist(self, operation, headers, body, channel="public"):
        """Asks until there is an answer; the same bytes again are the same request. A trouble is said once."""
        pause, said = 0.1, ""
        while True:
            try:
                return self.ask(operation, headers, body, channel)[0]
            except NoAnswer as problem:
                if str(problem) != said:
                    said = str(problem)
                    log(f"{said}; trying again")
                time.sleep(pause)
                pause = min(pause * 2, 5)


class Command:
    def __init__(self, message):
        self.message = message
        tokens = message.subject.split(".")
        self.project, self.channel = tokens[2], tokens[3]
        drop = lambda name: name in STAMPS or name.startswith("Nats-")  # noqa: E731
        self.headers = {name: value for name, value in message.headers.items() if not drop(name)}
        self.call, self.turn = self.headers.get("CG-Tool-Call-Id"), self.headers.get("CG-Turn-Id")
        try:
            self.payload = json.loads(message.data)
        except ValueError:
            self.payload = None

    def unanswerable(self):
        """What it lacks so that nobody can be told: for whom it is, and for which call."""
        for name in REQUIRED:
            if not self.headers.get(name, "").strip():
                return f"{name} is missing"
        return None if isinstance(self.payload, dict) else "the payload is not a JSON object"

    def outgoing(self, **more):
        """The headers of an answer: the command's own, with a span of our own."""
        return {**self.headers, "traceparent": child_span(self.headers.get("traceparent")), **more}

    def malformed(self):
        """What is wrong with the command itself. The plane never sends such a command; another client of the bus may."""
        said = {"CG-Project-Id": self.project, "CG-Channel-Id": self.channel}
        if any(self.headers.get(name, token) != token for name, token in said.items()):
            return "bad_request", "the headers contradict the subject"
        wrong = [key for key in (*INLINE, *CONTROL) if key in self.payload]
        if wrong:
            return "bad_request", f"a command points to a card and carries no {', '.join(wrong)}"
        filled = lambda value: isinstance(value, str) and value.strip()  # noqa: E731
        missing = [key for key in ("tool_call_card_id", "tool_name", "after_execution") if not filled(self.payload.get(key))]
        if missing:
            return "bad_request", f"the command has no {', '.join(missing)}"
        if self.payload["after_execution"] not in ("suspend", "terminate"):
            return "bad_request", "after_execution is neither suspend nor terminate"
        counts = [self.headers.get("CG-Turn-Epoch") or "0", self.headers.get("CG-Recursion-Depth", "0")]
        if not all(count.isascii() and count.isdigit() for count in counts):
            return "bad_request", "the epoch or the depth is not a number"
        if self.headers.get("traceparent") and not SPAN.fullmatch(self.headers["traceparent"]):
            return "bad_request", "traceparent cannot be read"
        return None

    def fault(self, card):
        """Why it cannot be run. A service that checks this cannot be tricked into running something else."""
        malformed = self.malformed()
        if malformed:
            return malformed
        if not isinstance(card, dict) or card.get("card_id") != self.payload["tool_call_card_id"]:
            return "not_found", "the card of this call is not there"
        content = card.get("content") if isinstance(card.get("content"), dict) else {}
        is_call = card.get("type") == "tool.call" and content.get("__type__") == "ToolCallContent"
        if not is_call or card.get("tool_call_id") != self.call or not isinstance(content.get("arguments"), dict):
            return "bad_request", "the card is not the tool.call card of this call"
        return None
