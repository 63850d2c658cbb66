"""A tool service that only knows NATS: standard Python, no HTTP, no SDK. `docs/guides/nats.md` walks through it.

    python3 service.py            fetches commands from the durable of its target and leases each call before it runs it
    python3 service.py --plain    listens on the command subject, writes the result card itself and reports it
    python3 service.py --plain --durable    the same, but fetches, so that nothing is lost while it is away

TOOLPLANE_NATS_URL (or TOOLPLANE_URL), TOOLPLANE_PROJECT, TOOLPLANE_TARGET and TOOLPLANE_NATS_INBOX say where; Ctrl-C or
SIGTERM ends it after the calls it is in, a second one at once. Leasing, a call is run by one service at a time, is given to another when this
one dies, and can be canceled. Plain, a command that is published while nobody listens is lost, and its call ends at its
deadline.
"""

import argparse
import json
import os
import queue
import secrets
import signal
import socket
import sys
import threading
import time
from collections import OrderedDict
from datetime import datetime, timezone

from gateway import VERSION, Command, Gateway, Refused
from natswire import SIGNING, Nats, NoAnswer, log

STREAM = f"cg_cmd_{VERSION}"
THREADS = 4  # calls at once
FETCH_SECONDS = 5
ATTACH_SECONDS = 300  # said again this often
LATER_SECONDS = 1  # a call that is not due yet is offered again after this
MOST_LATER_SECONDS = 60  # a command of another project, again and again
REMEMBERED = 1000  # plain: results that are reported again when their command comes again


# ---- the tool -------------------------------------------------------------------------------------------------------


def count_letters(arguments, over):
    """The business. `over` is set when no caller waits for the result any more."""
    over.wait(arguments.get("seconds", 0))
    letters = [letter for letter in arguments["text"].lower() if letter.isalpha()]
    return {"letters": len(letters), "different": len(set(letters))}


def definition(target, plain):
    return {
        "tool_name": "count_letters_plain" if plain else "count_letters",
        "description": "Count the letters of a text, after some seconds if asked to.",
        "target_subject": f"cg.{VERSION}.{{project_id}}.{{channel_id}}.cmd.tool.{target}.count",
        "after_execution": "suspend",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": 100000},
                "seconds": {"type": "number", "minimum": 0, "maximum": 600},
            },
            "required": ["text"],
            "additionalProperties": False,
        },
        "options": {"retry": "safe", "timeout_seconds": 660, "service": "plain" if plain else "leased"},
    }


# ---- one command ----------------------------------------------------------------------------------------------------


def outcome_of(command, card, over):
    """Runs the tool: status, result, error."""
    fault = command.fault(card)
    if fault:
        return {"status": "failed", "error": {"code": fault[0], "message": fault[1]}}
    try:
        return {"status": "success", "result": count_letters(card["content"]["arguments"], over)}
    except Exception as error:  # whatever a tool raises is a failed result, not the end of the service
        log(f"call {command.call}: {error!r}")
        return {"status": "failed", "error": {"code": "tool_error", "message": str(error)}}


class Service:
    def __init__(self, nats, project, target):
        self.nats, self.project, self.target = nats, project, target
        self.gateway = Gateway(nats, project, target)
        self.done = OrderedDict()  # plain: call -> report, or None while it runs
        self.lock = threading.Lock()

    def settle_message(self, message, word):
        """+ACK, -NAK, +TERM; only to JetStream: the reply of a plain publish belongs to the publisher."""
        if message.reply and message.reply.startswith("$JS.ACK."):
            self.nats.publish(message.reply, word.encode())

    def later(self, message, seconds):
        self.settle_message(message, "-NAK " + json.dumps({"delay": int(seconds * 1e9)}))

    def is_ours(self, command):
        """A command of another project is given back. One that nobody could be told about is dropped."""
        message = command.message
        if command.project != self.project:
            tries = int(message.reply.split(".")[4]) if (message.reply or "").startswith("$JS.ACK.") else 1
            self.later(message, min(2 ** min(tries, 6), MOST_LATER_SECONDS))
            return False
        unanswerable = command.unanswerable()
        if unanswerable:
            log(f"a command for call {command.call} is dropped: {unanswerable}")
            self.settle_message(message, "+TERM")
        return not unanswerable

    def card_of(self, command):
        body = {"card_id": command.payload["tool_call_card_id"]} if command.payload.get("tool_call_card_id") else {}
        try:
            return self.gateway.insist("get_card", command.headers, body, command.channel)
        except Refused as no:
            log(f"call {command.call}: no card: {no}")
            return None

    # ---- leasing ----

    def lease(self, command):
        """The lease, or None when the call is not ours to run. A command is acknowledged when its call is leased."""
        pointer = {key: command.payload.get(key) for key in ("tool_call_card_id", "tool_name", "after_execution")}
        try:
            granted, now = self.gateway.ask("lease", command.headers, pointer, command.channel)
        except NoAnswer as problem:
            log(f"call {command.call} is left for later: {problem}")
            return self.later(command.message, LATER_SECONDS)
        except Refused as no:
            if no.call_status == "queued":
                return self.later(command.message, LATER_SECONDS)
            log(f"call {command.call} is not ours: {no}")
            return self.settle_message(command.message, "+ACK")
        self.settle_message(command.message, "+ACK")
        ends = datetime.fromisoformat(granted["lease"]["expires_at"].replace("Z", "+00:00")).timestamp()
        return {**granted, "seconds": max(ends - now / 1000, 0.3)}

    def keep(self, command, lease, over, finished):
        """Renews the lease three times in its life. A call that is canceled or lost is over."""
        while not finished.wait(lease["seconds"] / 3):
            try:
                answer, _ = self.gateway.ask("heartbeat", command.outgoing(), {"lease": lease["lease"]["id"]}, command.channel)
                if not answer.get("cancel"):
                    continue
            except NoAnswer:
                continue  # the plane is being restarted
            except Refused:
                pass
            over.set()
            return

    def run_leased(self, command):
        malformed = command.malformed()
        if malformed:  # anybody may have sent it: the call itself is safe, and its own command comes again
            log(f"a command for call {command.call} is dropped: {malformed[1]}")
            return self.settle_message(command.message, "+TERM")
        lease = self.lease(command)
        if lease is None:
            return
        over, finished = threading.Event(), threading.Event()
        threading.Thread(target=self.keep, args=(command, lease, over, finished), daemon=True).start()
        try:
            card = lease.get("card") or self.card_of(command)
            outcome = None if over.is_set() else outcome_of(command, card, over)
        finally:
            finished.set()
        if over.is_set() or outcome is None:
            return log(f"call {command.call} is over: nothing to report")
        body = {"lease": lease["lease"]["id"], **outcome}
        self.hand_over(command, "settle", command.outgoing(), body)

    def hand_over(self, command, operation, headers, body):
        try:
            self.gateway.insist(operation, headers, body, command.channel)
            log(f"call {command.call}: {body['status']}")
        except Refused as no:
            log(f"call {command.call} takes no result: {no}")

    # ---- plain ----

    def result_card(self, command, card, outcome):
        metadata = card.get("metadata") if isinstance(card, dict) and isinstance(card.get("metadata"), dict) else {}
        lineage = {key: metadata[key] for key in ("step_id", "trace_id", "parent_step_id") if key in metadata}
        return {
            "card_id": secrets.token_hex(16),
            "project_id": self.project,
            "type": "tool.result",
            "content": {
                "__type__": "ToolResultContent",
                "status": outcome["status"],
                "after_execution": command.payload.get("after_execution", "suspend"),
                "result": outcome.get("result"),
                "error": outcome.get("error"),
            },
            "created_at": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
            "author_id": f"tool.{self.target}",
            "metadata": {
                **lineage,
                "agent_turn_id": command.turn,
                "tool_call_id": command.call,
                "function_name": command.payload.get("tool_name") or self.target,
                "role": "tool",
            },
            "tool_call_id": command.call,
        }

    def run_plain(self, command):
        with self.lock:
            known = command.call in self.done
            report = self.done.setdefault(command.call, None)
            while len(self.done) > REMEMBERED:
                self.done.popitem(last=False)
        if report is None and not known:
            card = self.card_of(command)
            result = self.result_card(command, card, outcome_of(command, card, threading.Event()))
            content = result["content"]
            report = {"status": content["status"], "after_execution": content["after_execution"]}
            report["tool_result_card_id"] = result["card_id"]
            try:
                self.gateway.insist("put_card", command.outgoing(), result, command.channel)
            except Refused as no:
                there = no.detail.get("tool_result_card_id")
                if no.code != "conflict" or not there:
                    log(f"call {command.call} takes no card: {no}")
                    return self.settle_message(command.message, "+ACK")
                # Another process was first: its card is the one to report.
                report.update(tool_result_card_id=there, status=no.detail.get("status", content["status"]))
            self.done[command.call] = report
        if report is None:  # a thread is at it
            return self.later(command.message, LATER_SECONDS)
        self.hand_over(command, "report", command.outgoing(), report)  # the same report again is the same report
        self.settle_message(command.message, "+ACK")


# ---- the service ----------------------------------------------------------------------------------------------------


def watch_signals(stopping):
    """Sets `stopping` at SIGTERM or Ctrl-C. Python runs a handler in the main thread only: while that thread sleeps, a signal that
    another thread took is not noticed, and a handler may find a lock taken by the code it interrupts. So the handler does
    nothing. The interpreter writes a byte for every signal, whichever thread took it, and a thread that holds no lock reads it."""
    heard, told = socket.socketpair()
    told.setblocking(False)

    def watch():
        while True:
            if heard.recv(1)[0] in (signal.SIGTERM, signal.SIGINT):
                if stopping.is_set():
                    os._exit(1)
                stopping.set()

    signal.set_wakeup_fd(told.detach())
    threading.Thread(target=watch, daemon=True).start()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: None)


def main():
    parser = argparse.ArgumentParser(description="A tool service that only knows NATS.", epilog=SIGNING)
    parser.add_argument("--plain", action="store_true", help="listen on the subject, without leases")
    parser.add_argument("--durable", action="store_true", help="plain, but fetch from the durable")
    parser.add_argument("--no-register", action="store_true", help="the tool is registered already, by somebody else")
    options = parser.parse_args()
    plain = options.plain
    listens = plain and not options.durable
    url = os.environ.get("TOOLPLANE_NATS_URL") or os.environ.get("TOOLPLANE_URL", "nats://127.0.0.1:4222")
    project = os.environ.get("TOOLPLANE_PROJECT", "demo")
    target = os.environ.get("TOOLPLANE_TARGET", "letters_plain" if plain else "letters")
    try:
        nats = Nats(url, f"tool {target}", os.environ.get("TOOLPLANE_NATS_INBOX", "_INBOX"))
    except OSError as error:
        raise SystemExit(f"cannot connect to NATS: {error}") from None
    service, stopping, busy = Service(nats, project, target), threading.Event(), threading.Semaphore(THREADS)
    heard, durable, attaching = queue.Queue(), {"name": "", "until": 0.0}, threading.Lock()
    trouble = {"said": ""}

    def attach():
        """Says which target is served; the answer names the durable. The plane forgets one that nobody attaches to for a day;
        that of a plain tool is there for as long as the tool is registered."""
        plain_name, before = f"tool_{target}__{project}", durable["until"]
        with attaching:
            if durable["until"] != before:
                return  # another thread has
            durable["name"] = plain_name if plain else service.gateway.insist("attach", {}, {})["durable"]
            durable["until"] = time.monotonic() + ATTACH_SECONDS

    def fetch(address, box):
        """One message of the durable, or None: the server answers with the message, or with a status when there is none."""
        if time.monotonic() > durable["until"]:
            attach()
        ask = json.dumps({"batch": 1, "expires": int(FETCH_SECONDS * 1e9)}).encode()
        nats.publish(f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{durable['name']}", ask, reply=address)
        try:
            message = box.get(timeout=FETCH_SECONDS + 2)
        except queue.Empty:  # a durable that is not there answers nothing
            return attach()
        if message.status == 503:
            attach()
            raise NoAnswer(f"nobody answers for the durable {durable['name']}")
        return message if message.status is None else None

    def work():
        address, box = (None, heard) if listens else nats.mailbox()
        while not stopping.is_set():
            try:
                message = box.get() if listens else fetch(address, box)
                trouble["said"] = ""
                if message is None:
                    continue
                with busy:
                    command = Command(message)
                    if stopping.is_set():
                        service.later(message, 0)
                    elif service.is_ours(command):
                        (service.run_plain if plain else service.run_leased)(command)
            except (NoAnswer, OSError) as problem:
                problem = f"no connection to NATS at {nats.place}" if isinstance(problem, OSError) else str(problem)
                if problem != trouble["said"]:  # once, for all threads
                    trouble["said"] = problem
                    log(f"{problem}; trying again every second")
                stopping.wait(1)

    if listens:  # before the tool is known, so that no command can be missed; one process of the group gets each
        nats.subscribe(f"cg.{VERSION}.{project}.*.cmd.tool.{target}.>", heard.put, f"tool_{target}")
    try:
        if not options.no_register:
            service.gateway.insist("register", {}, definition(target, plain))
    except Refused as no:
        raise SystemExit(f"the tool cannot be registered: {no}") from None
    if not listens:
        try:
            attach()
        except Refused as no:
            raise SystemExit(f"the target cannot be served: {no}") from None
    # Only from here on there may be calls to finish; before, a signal ends the process at once.
    watch_signals(stopping)
    for _ in range(THREADS):
        threading.Thread(target=work, daemon=True).start()
    log(f"serving {definition(target, plain)['tool_name']} for target {target}")
    stopping.wait()
    for _ in range(THREADS):  # with all of them in hand, no thread is at work
        busy.acquire(timeout=30)
    nats.close()
    sys.stderr.flush()
    os._exit(0)  # threads still wait for messages; ending the interpreter around them can block or abort


if __name__ == "__main__":
    main()
