"""Look at NATS and talk to it by hand, as the `nats` program does, with nothing but standard Python.

    python3 nats_cli.py sub SUBJECT [--count N]              what is published, until Ctrl-C or N messages
    python3 nats_cli.py pub SUBJECT [BODY] [-H 'Name: value']
    python3 nats_cli.py req SUBJECT [BODY] [-H 'Name: value']   one question, one answer
    python3 nats_cli.py next STREAM DURABLE                  the next message of a durable, without acknowledging it

The server is --server, TOOLPLANE_NATS_URL, NATS_URL, or nats://127.0.0.1:4222. Exit code 1: no answer, no message.
"""

import argparse
import json
import os
import queue
import sys

from natswire import SIGNING, Nats, NoAnswer

WAIT_SECONDS = 10


def show(title, message):
    print(f'{title} "{message.subject}"' + (f' with reply "{message.reply}"' if message.reply else ""))
    show_content(message)


def show_content(message):
    for name, value in message.headers.items():
        print(f"{name}: {value}")
    print(f"\n{message.data.decode('utf-8', 'replace')}\n", flush=True)


def header(text):
    name, _, value = text.partition(":")
    return name.strip(), value.strip()


def main():
    parser = argparse.ArgumentParser(description="Look at NATS and talk to it by hand.", epilog=SIGNING)
    server = os.environ.get("TOOLPLANE_NATS_URL") or os.environ.get("NATS_URL") or "nats://127.0.0.1:4222"
    parser.add_argument("--server", default=server)
    commands = parser.add_subparsers(dest="command", required=True)
    sub = commands.add_parser("sub")
    sub.add_argument("subject")
    sub.add_argument("--count", type=int, default=sys.maxsize)
    for name in ("pub", "req"):
        command = commands.add_parser(name)
        command.add_argument("subject")
        command.add_argument("body", nargs="?", default="")
        command.add_argument("-H", dest="headers", type=header, action="append", default=[])
    fetch = commands.add_parser("next")
    fetch.add_argument("stream")
    fetch.add_argument("durable")
    options = parser.parse_args()

    nats = Nats(options.server, "nats_cli", os.environ.get("TOOLPLANE_NATS_INBOX", "_INBOX"))
    if options.command == "sub":
        heard = queue.Queue()
        nats.subscribe(options.subject, heard.put)
        nats.flush()  # from here on nothing is missed
        print(f'Subscribing on "{options.subject}"', file=sys.stderr, flush=True)
        for number in range(1, options.count + 1):
            show(f"[#{number}] Received on", heard.get())
    elif options.command == "pub":
        nats.publish(options.subject, options.body.encode(), dict(options.headers))
        nats.flush()
    elif options.command == "req":
        show_content(nats.request(options.subject, options.body.encode(), dict(options.headers), WAIT_SECONDS))
    else:
        address, box = nats.mailbox()
        ask = json.dumps({"batch": 1, "expires": int(WAIT_SECONDS * 1e9)}).encode()
        nats.publish(f"$JS.API.CONSUMER.MSG.NEXT.{options.stream}.{options.durable}", ask, reply=address)
        message = box.get(timeout=WAIT_SECONDS + 2)
        if message.status is not None:
            raise NoAnswer(f"there is no message: the server says {message.status}")
        show("Received on", message)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except queue.Empty:
        sys.exit("no answer: there is no such durable yet")
    except (NoAnswer, OSError) as problem:
        sys.exit(str(problem))
