"""Tools for Toolplane in Python: one file, standard library only, Python 3.9 or later.

    import toolplane

    @toolplane.tool(retry="safe")
    def count_words(text: str) -> dict:
        "Count the words of a text"
        return {"words": len(text.split())}

    toolplane.serve([count_words], target="text")

and calls of tools from a program:

    from toolplane import connect
    connect().call("count_words", {"text": "to be or not to be"})

Copy this file beside your own: it stays one file so that nothing has to be installed. The address, token and project come from TOOLPLANE_URL, TOOLPLANE_TOKEN and
TOOLPLANE_PROJECT, or from arguments of serve() and connect().

What the file promises:
  PY1. A call is claimed only when a thread is free to start it; a claimed call that was not started is given back.
  PY2. A call has one result. It is sent again, unchanged, until the server has answered.
  PY3. The server decides: a call that was canceled, timed out or taken away is dropped, whatever the tool returns.
  PY4. An exception of a tool becomes a failed result with a code. Its traceback goes to the log and,
       cut, to the operators of the plane; no card has it.
  PY5. The token and the secrets that tools declare (tool(secrets=["API_KEY"]), read from ctx.secrets) are removed from
      results, errors, parts, definitions and log lines, also when they are encoded.
  PY6. A call has a key that is made once. A request whose answer was lost is sent again with it, so the tool runs once.
A thread cannot be ended from outside in Python: a tool that takes long must look at ctx.cancelled (or call ctx.check()).
"""

from __future__ import annotations

import asyncio
import base64
import collections.abc
import dataclasses
import email.utils
import hashlib
import http.client
import inspect
import json
import logging
import math
import os
import random
import re
import secrets
import signal
import socket
import ssl
import threading
import time
import traceback
import typing
import urllib.parse
from datetime import datetime
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple, Union

__all__ = ["Cancelled", "Context", "Plane", "Tool", "ToolError", "ToolplaneError", "connect", "serve", "tool"]

log = logging.getLogger("toolplane")

MAX_NAMED = 256  # definitions that a claim may name
REQUEST_SECONDS = 10.0  # nothing but a claim takes long on a healthy server
SETTLE_SECONDS = 300.0  # a result is worth waiting for a server that is being updated
STOP_SECONDS = 2.0  # for a tool that looks at ctx.cancelled now and then
MAX_ATTEMPTS = 3
DIAGNOSTIC_CHARS = 8_000  # the place of a mistake is found in them
# Codes of the error table that say "the same request may work later"; a tool's own code needs retryable=True.
RETRY_CODES = frozenset(
    "agent_busy rate_limited storage_error breaker_open internal_error unknown_error upstream_unavailable "
    "tool_timeout".split()
)


# What a command may not carry beside its pointer: data belongs into the card, identity into the headers.
INLINE_FIELDS = ("args", "arguments", "result")
SPAN = re.compile("[0-9a-fA-F]{2}-[0-9a-fA-F]{32}-[0-9a-fA-F]{16}-[0-9a-fA-F]{2}")
CONTROL_FIELDS = (
    "project_id channel_id channel agent_id agent_turn_id turn_epoch step_id tool_call_id trace_id traceparent tracestate "
    "parent_agent_id parent_agent_turn_id parent_step_id parent_traceparent recursion_depth"
).split()


class ToolError(Exception):
    """How a tool says no: a code and a message for the caller, and anything JSON as detail."""

    def __init__(self, code: str, message: str, detail: Any = None, retryable: Optional[bool] = None):
        super().__init__(message)
        self.code, self.message, self.detail, self.retryable = code, message, detail, retryable


class Cancelled(Exception):
    """Raised by ctx.check() when the call is over; let it pass."""


class GiveBack(Exception):
    """This process cannot start the call now; another one may."""


class ApiError(Exception):
    """An answer of the server that is not a success, or no answer at all (status 0). lost: the server may have taken the request."""

    def __init__(self, status: int, code: str, message: str, detail: Any = None, lost: bool = False):
        super().__init__(f"{code}: {message}")
        self.status, self.code, self.message, self.detail, self.lost = status, code, message, detail, lost

    @property
    def asked_pause(self) -> float:
        """How long the server asks to be left alone. One that asks for more than a minute is asked again anyway."""
        seconds = self.detail.get("retry_after_seconds") if isinstance(self.detail, dict) else None
        return min(float(seconds), 60.0) if isinstance(seconds, (int, float)) and seconds > 0 else 0.0

    @property
    def may_pass(self) -> bool:
        return self.status == 0 or self.status >= 500 or self.status == 429


# ------------------------------------------------------------------------------------------------------------- secrets

# The forms of a secret are those of packages/sdk/src/secrets/secret-forms.ts: computed from the value, never guessed. As in
# spellings.ts there, they are also looked for in what the escapes of JSON and of URLs in a text stand for.
JSON_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
PERCENT = re.compile("%([0-9a-fA-F]{2})|([^\x00-\x7f])")
CUT_ESCAPE = re.compile(r"(?:\\+u?[0-9a-fA-F]{0,3}|%(?:25)*[0-9a-fA-F]?)\Z")
MOST_HELD_PARTS = 256
WHOLE_WORD_BELOW = 5  # shorter values also occur inside ordinary words, and are matched only where they stand alone
MIN_BASE64_CORE = 8  # a shorter piece of base64 would match by accident
MIN_LINE = 16  # a line of a key in several lines; shorter ones may be words


def text_forms(value: str) -> List[str]:
    return [value, value.replace(" ", "+")]  # the second: form data, where a blank is a plus


def base64_forms(data: bytes) -> List[str]:
    """As it is, and inside a longer text at any of three positions relative to the groups of three bytes."""
    forms = [base64.b64encode(data).decode()]
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + data).decode().rstrip("=")
        core = encoded[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
        forms += [core] if len(core) >= MIN_BASE64_CORE else []
    url_safe = [form.replace("+", "-").replace("/", "_") for form in forms]
    return [*forms, *url_safe, *(form.rstrip("=") for form in url_safe)]


def secret_forms(value: str) -> List[str]:
    if len(value) < WHOLE_WORD_BELOW:
        return text_forms(value)
    data = value.encode("utf-8", "replace")
    lines = [line.strip() for line in value.split("\n")] if "\n" in value else []
    keys = [line for line in lines if len(line) >= MIN_LINE and not line.startswith("-----")]
    in_lines = [form for line in keys for form in text_forms(line)]
    return [*text_forms(value), *base64_forms(data), data.hex(), data.hex().upper(), *in_lines]


def resolve(text: str, escape: "re.Pattern[str]", plain: Callable[["re.Match[str]"], str]) -> Tuple[str, List[int]]:
    """The text with its escapes resolved, and where each unit of it begins in the text as it stands."""
    units: List[str] = []
    at: List[int] = []
    done = 0
    for found in escape.finditer(text):
        unit = plain(found)
        units += [text[done : found.start()], unit]
        at += [*range(done, found.start()), *[found.start()] * len(unit)]
        done = found.end()
    return "".join([*units, text[done:]]), [*at, *range(done, len(text) + 1)]


def json_unit(found: "re.Match[str]") -> str:
    return chr(int(found[1], 16)) if found[1] else SHORT_ESCAPES.get(found[2], found[2])


def percent_unit(found: "re.Match[str]") -> str:
    return chr(int(found[1], 16)) if found[1] else as_bytes(found[2])


def as_bytes(text: str) -> str:
    """The bytes of its UTF-8, one unit each."""
    return text.encode("utf-8", "replace").decode("latin-1")


def as_surrogates(text: str) -> str:
    """As JSON escapes it: a character beyond 16 bits is two units."""
    data = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(data[at] << 8 | data[at + 1]) for at in range(0, len(data), 2))


def spellings(text: str) -> Iterator[Tuple[str, List[int], bool]]:
    """The text, and every way to resolve what is escaped in it. True: its units are bytes of UTF-8."""
    yield text, list(range(len(text) + 1)), False
    for mark, escape, plain in (("\\", JSON_ESCAPE, json_unit), ("%", PERCENT, percent_unit)):
        inner, at = text, list(range(len(text) + 1))
        for _ in range(2):  # an escape may be escaped again
            if mark in inner:
                inner, within = resolve(inner, escape, plain)
                at = [at[position] for position in within]
                yield inner, at, mark == "%"


class Scrubber:
    """Removes secrets from whatever leaves this process (PY5)."""

    def __init__(self, values: Dict[str, str]):
        forms: Dict[str, Tuple[str, bool]] = {}
        for name, value in values.items():
            for form in secret_forms(value) if value.strip() else []:
                forms.setdefault(form, (name, len(value) < WHOLE_WORD_BELOW))
        self._forms = [({form, as_surrogates(form)}, as_bytes(form), *known) for form, known in forms.items()]

    @staticmethod
    def _alone(text: str, start: int, end: int) -> bool:
        around = (text[start - 1 : start] if start else "") + text[end : end + 1]
        return not any(unit.isalnum() or unit > "\x7f" for unit in around)

    def spans(self, text: str) -> List[Tuple[int, int, str]]:
        """Where secrets are, from left to right; what overlaps is one."""
        found = []
        for plain, at, is_bytes in spellings(text) if self._forms else ():
            for texts, data, name, whole_word in self._forms:
                for needle in (data,) if is_bytes else texts:
                    start = plain.find(needle)
                    while start >= 0:
                        end = start + len(needle)
                        if not whole_word or self._alone(plain, start, end):
                            found.append((at[start], -at[end], name))
                        start = plain.find(needle, start + 1)
        merged: List[Tuple[int, int, str]] = []
        for start, end, name in sorted(found):  # the longest of those that begin together comes first
            if not merged or start >= merged[-1][1]:
                merged.append((start, -end, name))
            elif -end > merged[-1][1]:
                merged[-1] = (merged[-1][0], -end, merged[-1][2])
        return merged

    def open_end(self, text: str) -> int:
        """Length of the longest end of the text that could begin a secret, however it is escaped."""
        if not self._forms:
            return 0
        cut = CUT_ESCAPE.search(text)
        head, longest = text[: cut.start()] if cut else text, 0
        for plain, at, is_bytes in spellings(head):
            for texts, data, *_ in self._forms:
                for needle in (data,) if is_bytes else texts:
                    for length in range(min(len(needle) - 1, len(plain)), 0, -1):
                        if plain.endswith(needle[:length]):
                            longest = max(longest, len(head) - at[len(plain) - length])
                            break
        return longest + len(text) - len(head)

    def text(self, text: str) -> str:
        clean, done = [], 0
        for start, end, name in self.spans(text):
            clean += [text[done:start], f"[redacted {name}]"]
            done = end
        return "".join([*clean, text[done:]])

    def value(self, value: Any) -> Any:
        """Scrubs a JSON value: its texts, keys and numbers."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            clean = self.text(str(value))
            return value if clean == str(value) else clean
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        return value

    def json(self, value: Any) -> Any:
        """Scrubs any value; a value that is not JSON raises as json.dumps does. A text without a secret is searched once."""
        text = json.dumps(value, allow_nan=False)
        is_plain = "\\" not in text and "%" not in text and not any(data in text for _, data, *_ in self._forms)
        return json.loads(text) if is_plain else self.value(json.loads(text))


def texts_in(value: Any, place: Tuple[Any, ...] = ()) -> Iterator[Tuple[Tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, (list, dict)):
        for key, item in enumerate(value) if isinstance(value, list) else value.items():
            yield from texts_in(item, (*place, key))


def with_texts(value: Any, texts: Dict[Tuple[Any, ...], str], place: Tuple[Any, ...] = ()) -> Any:
    if isinstance(value, str):
        return texts[place]
    if isinstance(value, list):
        return [with_texts(item, texts, (*place, at)) for at, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: with_texts(item, texts, (*place, key)) for key, item in value.items()}
    return value


class PartScrubber:
    """Scrubs the parts of one call, also where a secret is cut in two between parts: texts at one place of successive parts are
    read as one. A part that ends with the possible beginning of a secret waits for the next one."""

    def __init__(self, scrub: Scrubber, release: Callable[[Any], None]):
        self._scrub, self._release = scrub, release
        self._held: List[Tuple[Any, Dict[Tuple[Any, ...], str]]] = []

    def push(self, part: Any) -> None:
        part = json.loads(json.dumps(part, allow_nan=False))
        self._held.append((part, dict(texts_in(part))))
        self._settle(False if len(self._held) <= MOST_HELD_PARTS else None)

    def flush(self) -> None:
        self._settle(True)

    def _settle(self, final: Optional[bool]) -> None:
        """False: what may begin a secret waits. True: no more parts come. None: too many wait, a doubtful end is removed."""
        ready = len(self._held)
        for place in {place for _, texts in self._held for place in texts}:
            text = "".join(texts.get(place, "") for _, texts in self._held)
            open_from = len(text) - (0 if final else self._scrub.open_end(text))
            spans = self._scrub.spans(text)
            if final is None and open_from < len(text):
                spans, open_from = [*(span for span in spans if span[1] <= open_from), (open_from, len(text), "secret")], len(text)
            waits_from = min([open_from, *(start for start, end, _ in spans if end > open_from)])
            ready = min(ready, self._replace(place, [span for span in spans if span[1] <= open_from], waits_from))
        for part, texts in self._held[:ready]:
            self._release(self._scrub.value(with_texts(part, texts)))
        del self._held[:ready]

    def _replace(self, place: Tuple[Any, ...], spans: List[Tuple[int, int, str]], waits_from: int) -> int:
        """Writes the spans of the joined text back; returns the first part that must wait."""
        offset, ready = 0, len(self._held)
        for index, (_, texts) in enumerate(self._held):
            text = texts.get(place)
            if text is None:
                continue
            clean, done = [], 0
            for start, end, name in spans:
                if end <= offset or start >= offset + len(text):
                    continue
                clean.append(text[done : max(start - offset, 0)])
                # The replacement stands where the secret began; the rest of the secret is removed.
                clean += [f"[redacted {name}]"] if start >= offset else []
                done = min(end - offset, len(text))
            texts[place] = "".join([*clean, text[done:]])
            offset += len(text)
            if offset > waits_from:
                ready = min(ready, index)
        return ready


class LogScrubber(logging.Filter):
    """A filter for log handlers: it scrubs what any logger writes, tracebacks included."""

    def __init__(self, scrub: Scrubber):
        super().__init__()
        self._scrub = scrub

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._scrub.text(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_info, record.exc_text = None, self._scrub.text(record.exc_text)
        return True


def known_secrets(tools: Sequence["Tool"], token: str) -> Dict[str, str]:
    names = [name for item in tools for name in item.secrets]
    return {"TOOLPLANE_TOKEN": token, **{name: os.environ[name] for name in names if os.environ.get(name)}}


# ------------------------------------------------------------------------------------------------ tools and their schema


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    description: str
    parameters: Dict[str, Any]
    run: Callable[..., Any]
    options: Dict[str, Any]
    after_execution: str
    context_name: Optional[str]
    secrets: Tuple[str, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)

    def definition(self, target: str) -> Dict[str, Any]:
        return {
            "tool_name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "target_subject": f"cg.v1r4.{{project_id}}.{{channel_id}}.cmd.tool.{target}.{self.name}",
            "after_execution": self.after_execution,
            "options": self.options,
        }


PLAIN_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
ARRAYS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
OBJECTS = (dict, collections.abc.Mapping)
ANYTHING = {"description": "Any JSON value."}


def schema_of(hint: Any) -> Dict[str, Any]:
    """JSON Schema of a type hint."""
    if hint in (Any, inspect.Parameter.empty, object):
        return dict(ANYTHING)
    if hint in PLAIN_TYPES:
        return {"type": PLAIN_TYPES[hint]}
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hasattr(hint, "__metadata__"):  # Annotated[T, "what it is"]
        described = schema_of(args[0])
        texts = [item for item in hint.__metadata__ if isinstance(item, str)]
        return {**described, "description": texts[0]} if texts else described
    if origin is Union or type(hint).__name__ == "UnionType":
        return {"anyOf": [schema_of(arg) for arg in args]}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if hint in ARRAYS or origin in ARRAYS:
        items = [arg for arg in args if arg is not Ellipsis]
        return {"type": "array", "items": schema_of(items[0] if len(set(items)) == 1 else Any)}
    if hint in OBJECTS or origin in OBJECTS:
        return {"type": "object", **({"additionalProperties": schema_of(args[1])} if len(args) == 2 else {})}
    if hasattr(hint, "__required_keys__"):  # TypedDict
        fields = typing.get_type_hints(hint, include_extras=True)
        properties = {name: schema_of(field) for name, field in fields.items()}
        return {"type": "object", "properties": properties, "required": sorted(hint.__required_keys__)}
    raise TypeError(f"no JSON Schema for {hint!r}: use plain types, or pass parameters= to the decorator")


def describe(run: Callable[..., Any]) -> Tuple[Dict[str, Any], Optional[str]]:
    """The parameters of a function as JSON Schema, and the name of the one that takes the context."""
    hints = typing.get_type_hints(run, include_extras=True)
    properties: Dict[str, Any] = {}
    required: List[str] = []
    context_name, open_ended = None, False
    for name, parameter in inspect.signature(run).parameters.items():
        hint = hints.get(name, Any)
        if hint is Context or (name == "ctx" and hint is Any):
            context_name = name
        elif parameter.kind is parameter.VAR_KEYWORD:
            open_ended = True
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{run.__name__}: arguments have names, so {name} cannot be positional")
        else:
            properties[name] = schema_of(hint)
            if parameter.default is parameter.empty:
                required.append(name)
            elif parameter.default is not None:
                properties[name]["default"] = parameter.default
    schema = {"type": "object", "properties": properties, "additionalProperties": open_ended}
    return ({**schema, "required": required} if required else schema), context_name


def tool(
    run: Optional[Callable[..., Any]] = None,
    *,
    name: Optional[str] = None,
    description: Optional[str] = None,
    parameters: Optional[Dict[str, Any]] = None,
    retry: Optional[str] = None,
    timeout_seconds: Optional[float] = None,
    after_execution: str = "suspend",
    options: Optional[Dict[str, Any]] = None,
    secrets: Sequence[str] = (),
) -> Any:
    """Makes a tool of a function. retry="safe" says that running it twice does no harm.

    secrets are names of variables that the tool reads from ctx.secrets; their values never leave this process (PY5).
    """

    def make(function: Callable[..., Any]) -> Tool:
        schema, context_name = describe(function)
        given = {"retry": retry, "timeout_seconds": timeout_seconds}
        said = {key: value for key, value in given.items() if value is not None}
        for key, value in said.items():
            if (options or {}).get(key, value) != value:
                both = f"{key}={value!r} and options[{key!r}]={(options or {})[key]!r}"
                raise ValueError(f"tool {name or function.__name__}: {both} say two things; leave one of them out")
        return Tool(
            name=name or function.__name__,
            description=description if description is not None else inspect.getdoc(function) or "",
            parameters=parameters or schema,
            run=function,
            options={**(options or {}), **said},
            after_execution=after_execution,
            context_name=context_name,
            secrets=tuple(secrets),
        )

    return make if run is None else make(run)


# --------------------------------------------------------------------------------------------------------- the server


def plane_beside() -> Optional[str]:
    """The plane of the data directory beside the program: a running server writes down where it listens."""
    try:
        with open(os.path.join(os.environ.get("TOOLPLANE_DATA") or ".toolplane", "address"), encoding="utf-8") as file:
            beside = urllib.parse.urlsplit(file.read().strip())
        if beside.scheme == "http" and beside.hostname in ("127.0.0.1", "localhost", "::1"):
            return f"http://{beside.netloc}"
    except (OSError, ValueError):
        pass
    return None


def named_plane() -> str:
    return os.environ.get("TOOLPLANE_URL", "").strip()


def find_plane() -> str:
    """TOOLPLANE_URL, else the plane of the data directory beside the program on whatever port, else the usual address."""
    return named_plane() or plane_beside() or "http://127.0.0.1:7420"


def wrong_address(url: Optional[str]) -> str:
    """Why an address is none of a plane's HTTP API. It may hold a password, so it is not shown."""
    said, scheme = "url" if url else "TOOLPLANE_URL", (url or named_plane()).partition("://")[0].lower()
    why = f"{said} must be an http or https address such as http://127.0.0.1:7420"
    if scheme not in ("nats", "tls"):
        return why
    return f"{why}; toolplane.py does not speak NATS: give it the address of the plane, or write the service as examples/nats-python does"


class Client:
    """The HTTP API. Connections are kept and shared; the token is in a header and nowhere else.

    A plane that no person named is followed to another port: after a request that it did not answer, the next try goes where it is then.
    """

    def __init__(self, url: Optional[str], token: str, project: str):
        self._follows = not (url or named_plane())
        self._token, self._project, self._lock = token, urllib.parse.quote(project, safe=""), threading.Lock()
        self._go(url or find_plane())

    def _go(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the address of the server is http://host:port, not {url!r}")
        self._url, self._idle = url, []
        self._shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._base = f"{parts.path.rstrip('/')}/projects/{self._project}"

    @property
    def url(self) -> str:
        """For messages: without a user and password."""
        return self._shown

    def _follow(self) -> bool:
        """Whether the plane has moved."""
        now = plane_beside() if self._follows else None
        with self._lock:
            if now is None or now == self._url:
                return False
            self._go(now)
            return True

    def _connect(self, kept: bool) -> Optional[http.client.HTTPConnection]:
        if kept:
            with self._lock:
                return self._idle.pop() if self._idle else None
        make = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return make(self._host, self._port)

    def _unanswered(self, url: str, error: Exception, lost: bool) -> ApiError:
        return ApiError(0, "upstream_unavailable", f"the server at {url} does not answer ({type(error).__name__})", None, lost)

    def _send(
        self, method: str, path: str, data: Optional[bytes], headers: Dict[str, str], timeout: float
    ) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse, bytes]:
        """A kept connection may have been closed by the server meanwhile; then a new one is tried at once."""
        url, lost = self.url, False
        for kept in (True, False):
            connection = self._connect(kept)
            if connection is None:
                continue
            connection.timeout = timeout
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            try:
                if connection.sock is None:
                    connection.connect()
                lost = True  # from here on the server may have the request
                connection.request(method, path, body=data, headers=headers)
                response = connection.getresponse()
                return connection, response, response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                closed = isinstance(error, (ConnectionError, http.client.RemoteDisconnected))
                if not (kept and closed):
                    self._follow()
                    raise self._unanswered(url, error, lost) from error
        raise ApiError(0, "upstream_unavailable", f"the server at {url} does not answer", None, lost)

    def request(
        self, method: str, path: str, body: Union[None, bytes, Dict[str, Any]] = None, timeout: float = REQUEST_SECONDS,
        headers: Optional[Dict[str, str]] = None,
    ) -> Tuple[Any, float]:
        """The answer, and the server's clock when it was given. Raises ApiError."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"authorization": f"Bearer {self._token}", "accept": "application/json", **(headers or {})}
        if data is not None:
            sent["content-type"] = "application/json"
        asked = self._url
        connection, response, text = self._send(method, self._base + path, data, sent, timeout)
        # Another plane may have taken the address. It does not know the token, and did nothing.
        if response.status == 401 and self._follow():
            connection.close()
            asked = self._url
            connection, response, text = self._send(method, self._base + path, data, sent, timeout)
        with self._lock:
            if asked == self._url:
                self._idle.append(connection)
        try:
            answer = json.loads(text) if text else None
        except ValueError:
            why = f"the server at {self.url} answered something that is not JSON"
            raise ApiError(0, "upstream_unavailable", why, None, response.status >= 500) from None
        if not 200 <= response.status < 300:
            raise refusal(response, answer)
        date = response.getheader("date")
        return answer, email.utils.parsedate_to_datetime(date).timestamp() if date else time.time()

    def lines(self, path: str, body: bytes, timeout: float) -> Iterator[Dict[str, Any]]:
        """The lines of an answer as they come, each a JSON object. Raises ApiError, also in the middle."""
        headers = {"authorization": f"Bearer {self._token}", "accept": "application/x-ndjson"}
        headers["content-type"] = "application/json"
        connection, url, lost = self._connect(False), self.url, False
        connection.timeout = timeout
        try:
            connection.connect()
            lost = True
            connection.request("POST", self._base + path, body=body, headers=headers)
            response = connection.getresponse()
            if response.status != 200:
                lost = response.status >= 500
                raise refusal(response, json.loads(response.read()))
            for line in iter(response.readline, b""):
                if line.strip():
                    yield json.loads(line)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self._unanswered(url, error, lost) from error
        finally:
            connection.close()


def refusal(response: http.client.HTTPResponse, answer: Any) -> ApiError:
    """What an answer that is not a success says. The pause of its Retry-After is in the detail, as the plane itself puts it there."""
    error = answer.get("error") if isinstance(answer, dict) else None
    error = error if isinstance(error, dict) else {}
    detail, after = error.get("detail"), (response.getheader("retry-after") or "").strip()
    if after.isascii() and after.isdigit() and (detail is None or isinstance(detail, dict)):
        detail = {**(detail or {}), "retry_after_seconds": int(after)}
    # Without a code it is the word of a proxy, which may have passed the request on.
    lost = response.status >= 500 and "code" not in error
    return ApiError(response.status, str(error.get("code", response.status)), str(error.get("message", "")), detail, lost)


def backoff(failures: int) -> float:
    """Longer each time, and spread, so that many services do not come back in the same moment."""
    full = min(10.0, 0.2 * 2 ** min(failures - 1, 10))
    return full / 2 + random.random() * full / 2


def seconds_until(moment: Any, server_now: float) -> Optional[float]:
    if not isinstance(moment, str):
        return None
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp() - server_now


# -------------------------------------------------------------------------------------------------- said together

LISTS = {"result": "results", "heartbeat": "heartbeats", "release": "releases", "parts": "parts"}
EXCHANGES_AT_ONCE = 2  # while the server works on one, the next is collected
EXCHANGE_ITEMS, EXCHANGE_BYTES, LARGE_BYTES = 256, 120 * 1024, 32 * 1024
UNSENT_SECONDS = 2.0  # a hanging request holds other items back no longer than this
SIZE_CODES = ("payload_too_large", "result_too_large")


class Saying:
    """One item of an exchange, and its answer once there is one."""

    def __init__(self, action: str, data: bytes):
        self.action, self.data = action, data
        self.taken, self.over = False, threading.Event()
        self.answer: Tuple[Any, float] = (None, 0.0)
        self.error: Optional[ApiError] = None
        self.alone = False

    def end(self, answer: Tuple[Any, float] = (None, 0.0), error: Optional[ApiError] = None, alone: bool = False) -> None:
        self.answer, self.error, self.alone = answer, error, alone
        self.over.set()


def item_error(error: Any) -> ApiError:
    """The error of an item, with the status its own route would have had as far as it matters here."""
    said = error if isinstance(error, dict) else {}
    code = str(said.get("code", "upstream_unavailable"))
    status = 413 if code in SIZE_CODES else 503 if code in RETRY_CODES else 409
    return ApiError(status, code, str(said.get("message", "")))


class Exchange:
    """Results, heartbeats, releases and parts in one request: what is ready while one is on its way goes with the next.

    No timers: what is alone leaves at once. What is large, or was tried before, goes by its own route, and so does
    everything when the server has no route for exchanges.
    """

    def __init__(self, client: Client, target: str):
        self._client, self._path = client, f"/tool-services/{urllib.parse.quote(target, safe='')}/exchange"
        self._waiting: List[Saying] = []
        self._ready, self._known = threading.Condition(), True
        for number in range(EXCHANGES_AT_ONCE):
            threading.Thread(target=self._run, name=f"exchange {number}", daemon=True).start()

    def say(
        self, action: str, call_id: str, body: Dict[str, Any], alone: Callable[[], Tuple[Any, float]]
    ) -> Tuple[Any, float]:
        """The answer of the server, as the single route would give it. Raises ApiError."""
        data = json.dumps({"tool_call_id": call_id, **body}, allow_nan=False).encode()
        if not self._known or len(data) > LARGE_BYTES:
            return alone()
        saying = Saying(action, data)
        with self._ready:
            self._waiting.append(saying)
            self._ready.notify()
        if not saying.over.wait(UNSENT_SECONDS):
            with self._ready:
                if not saying.taken:
                    self._waiting.remove(saying)
                    saying.end(alone=True)
            saying.over.wait()
        if saying.alone:
            return alone()
        if saying.error is not None:
            raise saying.error
        return saying.answer

    def _take(self) -> List[Saying]:
        with self._ready:
            self._ready.wait_for(lambda: self._waiting)
            taken, size = [], 0
            while self._waiting and len(taken) < EXCHANGE_ITEMS:
                size += len(self._waiting[0].data)
                if taken and size > EXCHANGE_BYTES:
                    break
                taken.append(self._waiting.pop(0))
                taken[-1].taken = True
            return taken

    def _run(self) -> None:
        while True:
            sayings = self._take()
            try:
                self._send(sayings)
            except ApiError as error:
                if error.status == 404:
                    self._known = False
                for saying in sayings:
                    saying.end(error=error, alone=not error.may_pass)
            except Exception:  # a fault of this file; each is said by its own route then
                log.exception("an exchange failed")
                for saying in sayings:
                    saying.end(alone=True)

    def _send(self, sayings: List[Saying]) -> None:
        said = {name: [one for one in sayings if one.action == action] for action, name in LISTS.items()}
        lists = [b'"%s":[%s]' % (name.encode(), b",".join(one.data for one in ones)) for name, ones in said.items() if ones]
        timeout = 60.0 if said["results"] else REQUEST_SECONDS
        answer, server_now = self._client.request("POST", self._path, b"{" + b",".join(lists) + b"}", timeout=timeout)
        for name, ones in said.items():
            answers = answer.get(name) if isinstance(answer, dict) else None
            for index, saying in enumerate(ones):
                one = answers[index] if isinstance(answers, list) and index < len(answers) else None
                if not isinstance(one, dict):
                    one = {"error": {"message": "the server did not answer to an item of an exchange"}}
                if "error" in one:
                    saying.end(error=item_error(one["error"]))
                else:
                    saying.end(answer=(one, server_now))


# ------------------------------------------------------------------------------------------------------------ one call


class Context:
    """What a tool may know and do besides its arguments."""

    def __init__(self, call: "Call", secrets: Dict[str, str]):
        self._call = call
        self.secrets = secrets
        self._parts = 0
        self._scrubbed = PartScrubber(call.scrub, self._send)
        self.cancelled: threading.Event = call.cancelled
        self.tool_call_id: str = call.id
        self.agent_id: str = call.headers.get("cg-agent-id", "")
        self.idempotency_key: str = call.idempotency_key()
        self.attempt = call.attempt

    def remaining(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self._call.deadline - time.monotonic())

    def check(self) -> None:
        """Raises Cancelled when the call was canceled, is out of time or is not ours any more."""
        if self.cancelled.is_set():
            raise Cancelled(self._call.ended_by)

    def emit(self, part: Any) -> None:
        """Shows progress. It may be lost; the result may not."""
        if not self.cancelled.is_set():
            self._scrubbed.push(part)

    def flush_parts(self) -> None:
        """No more parts come."""
        self._scrubbed.flush()

    def _send(self, part: Any) -> None:
        body = {"lease": self._call.lease, "parts": [{"index": self._parts, "part": part}]}
        self._parts += 1
        try:
            self._call.say("parts", body)
        except ApiError as error:
            log.warning("a part of call %s was not delivered: %s", self.tool_call_id, error)


class Call:
    """A claimed call: its lease, its deadline, and the one result it may have."""

    def __init__(
        self, client: Client, command: Dict[str, Any], server_now: float, scrub: Scrubber, exchange: Exchange
    ):
        self.client, self.scrub, self.exchange = client, scrub, exchange
        self.headers = {str(key).lower(): str(value) for key, value in (command.get("headers") or {}).items()}
        self.payload = command.get("payload") if isinstance(command.get("payload"), dict) else {}
        self.id = self.headers.get("cg-tool-call-id", "")
        self.lease = command["lease"]["id"]
        self.lease_seconds = seconds_until(command["lease"]["expires_at"], server_now) or 1.0
        run_seconds = seconds_until(command.get("run_deadline"), server_now)
        # A server that names no deadline ends the call by itself; the day is only so that the arithmetic has a number.
        self.deadline = time.monotonic() + (86_400.0 if run_seconds is None else run_seconds)
        number = command.get("attempt")
        # Goes on counting after a service that was lost.
        self.attempt: int = number if isinstance(number, int) and number > 0 else 1
        self.once = command.get("once") is True  # its rate counts each start
        self.cancelled = threading.Event()
        self.ended_by = ""
        self.definition_hash: Optional[str] = None
        self.done = threading.Event()  # it has ended and its result, if it has one, is handed over
        self._open, self._lock = True, threading.Lock()

    def post(self, action: str, body: Any, **options: Any) -> Tuple[Any, float]:
        """Sends it by its own route."""
        return self.client.request("POST", f"/calls/{urllib.parse.quote(self.id, safe='')}/{action}", body, **options)

    def say(self, action: str, body: Dict[str, Any]) -> Tuple[Any, float]:
        """Sends it together with items of other calls."""
        return self.exchange.say(action, self.id, body, lambda: self.post(action, body))

    def idempotency_key(self) -> str:
        """The same for every run of this call, different for every other call; for systems that take such a key."""
        identity = [self.headers.get("cg-agent-id"), self.headers.get("cg-turn-id"), self.id]
        text = json.dumps(identity, separators=(",", ":"), ensure_ascii=False)
        label = lambda name: re.sub(r"[^A-Za-z0-9_-]+", "_", str(name))  # noqa: E731
        project, tool_name = self.headers.get("cg-project-id", ""), self.payload.get("tool_name", "")
        return f"tool.{label(project)}.{label(tool_name)}.{hashlib.sha256(text.encode()).hexdigest()}"

    def tool_name(self) -> str:
        return str(self.payload.get("tool_name", "?"))

    def end(self, reason: str) -> bool:
        """True for the first caller; only that one may deliver a result (PY2)."""
        with self._lock:
            first, self._open = self._open, False
            self.ended_by = self.ended_by or reason
        return first

    def keep(self) -> None:
        """Renews the lease, and watches for cancellation and the deadline, until the call is done."""
        failures, wait = 0, self.lease_seconds / 3
        while not self.done.wait(max(0.05, min(wait, self.deadline - time.monotonic()))):
            if time.monotonic() >= self.deadline:
                self.cancelled.set()
                if self.end("deadline"):
                    log.warning("%s did not finish in time in call %s and was told to stop", self.tool_name(), self.id)
                    error = {"code": "tool_timeout", "message": "the tool did not finish in time", "source": "tool"}
                    self.deliver({"status": "timeout", "error": error})
                return
            try:
                beat, server_now = self.say("heartbeat", {"lease": self.lease})
                if beat.get("cancel"):
                    text = "the plane has ended call %s: it was canceled, its time was over or its lease was lost; %s was told to stop"
                    log.info(text, self.id, self.tool_name())
                    self.drop("canceled")
                    return
                wait, failures = (seconds_until(beat.get("expires_at"), server_now) or 1.0) / 3, 0
            except ApiError as error:
                if not error.may_pass:
                    text = "the lease of call %s was lost, and the result of this run of %s does not count: %s"
                    log.warning(text, self.id, self.tool_name(), error)
                    self.drop("lost")
                    return
                failures += 1
                wait = min(self.lease_seconds / 9, backoff(failures))

    def drop(self, reason: str) -> None:
        """The server ended the call (PY3): nothing is reported, and the tool is asked to stop."""
        self.end(reason)
        self.cancelled.set()

    def deliver(self, outcome: Dict[str, Any]) -> None:
        """Delivers the result, and repeats it until the server has answered (PY2)."""
        try:
            said = {key: self.scrub.json(outcome[key]) for key in ("result", "error", "diagnostics") if key in outcome}
            body = {"lease": self.lease, **outcome, **said}
            if "diagnostics" in body:
                # Scrubbed before it is cut: a secret that is cut in two would not be found.
                body["diagnostics"] = {key: text[:DIAGNOSTIC_CHARS] for key, text in body["diagnostics"].items()}
            if self.definition_hash is not None:
                body["definition_hash"] = self.definition_hash
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            message = self.scrub.text(f"the result cannot be written as JSON: {error}")
            log.warning("%s failed in call %s: %s", self.tool_name(), self.id, message)
            body = {"lease": self.lease, **failed("result_not_serializable", message)}
        headers, failures, until, too_large = self.child_span(), 0, time.monotonic() + SETTLE_SECONDS, False
        alone = lambda: self.post("result", body, headers=headers, timeout=60.0)  # noqa: E731
        while True:
            try:
                alone() if failures or too_large else self.exchange.say("result", self.id, {**body, **headers}, alone)
                return
            except ApiError as error:
                if error.status == 413 and not too_large:
                    too_large = True
                    smaller = failed("result_too_large", "the result is larger than the server takes")
                    body = {"lease": self.lease, **smaller}
                    continue
                if error.code == "already_settled" and body.get("status") == "timeout":
                    return  # the plane ended the call a moment before this service did, as it should
                if not error.may_pass or time.monotonic() >= until:
                    log.warning("the result of call %s was not accepted: %s", self.id, error)
                    return
                failures += 1
                time.sleep(backoff(failures))

    def child_span(self) -> Dict[str, str]:
        parts = self.headers.get("traceparent", "").split("-")
        return {"traceparent": "-".join([*parts[:2], secrets.token_hex(8), *parts[3:]])} if len(parts) >= 4 else {}


def failed(code: str, message: str, detail: Any = None, retryable: Optional[bool] = None) -> Dict[str, Any]:
    error = {"code": code, "message": message, "source": "tool", "detail": detail, "retryable": retryable}
    return {"status": "failed", "error": {key: value for key, value in error.items() if value is not None}}


def understand(error: BaseException) -> Dict[str, Any]:
    """Turns an exception of a tool into a result (PY4)."""
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    diagnostics = {"name": type(error).__name__, "message": str(error), "stack": stack}
    if isinstance(error, ToolError):
        said = failed(error.code, error.message, error.detail, error.retryable)
        return {**said, "diagnostics": diagnostics}
    # A KeyError or a ValueError that the tool did not declare is its own bug, not the caller's mistake.
    code = "internal_error"
    # urllib puts the error of the socket inside its own.
    inner = (error, getattr(error, "reason", None), error.__cause__)
    for kind, named in ((TimeoutError, "tool_timeout"), (ConnectionError, "upstream_unavailable")):
        if any(isinstance(one, kind) for one in inner):
            code = named
            break
    return {**failed(code, words_of(error)), "diagnostics": diagnostics}


def tried(outcome: Dict[str, Any], tries: int, how: str) -> Dict[str, Any]:
    """How often a tool was tried, in the diagnostics: the plane counts all tries under one lease as one attempt."""
    if tries < 2:
        return {}
    said = outcome["diagnostics"]
    return {"diagnostics": {**said, "stack": f"tried {tries} times in this attempt; {how}\n{said['stack']}"}}


def words_of(error: BaseException) -> str:
    """What an exception says of itself. The text of a KeyError is the key alone, and that of sys.exit its code."""
    if isinstance(error, SystemExit):
        return f"the tool called sys.exit({'' if error.code is None else repr(error.code)}): a tool must return or raise"
    if isinstance(error, KeyError) or not isinstance(error, Exception):
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return str(error) or type(error).__name__


# --------------------------------------------------------------------------------------------------------- the service


MAX_CONCURRENCY = 1000
MAX_CLAIM_SECONDS = 60  # the server keeps no question open for longer
MAX_DRAIN_SECONDS = 24 * 3600


def check_seconds(name: str, value: Any, most: int) -> None:
    if type(value) not in (int, float) or not 0 <= value <= most:  # NaN is in no range
        raise ValueError(f"{name} must be a number from 0 to {most}")


class Service:
    def __init__(
        self, tools: Sequence[Tool], target: str, client: Client, concurrency: int, claim_seconds: float,
        drain_seconds: float, scrub: Scrubber,
    ):
        self.scrub = scrub
        self.tools = {item.name: item for item in tools}
        if len(self.tools) != len(tools) or not tools:
            raise ValueError("serve() takes one or more tools with different names")
        if type(concurrency) is not int or not 1 <= concurrency <= MAX_CONCURRENCY:
            raise ValueError(f"concurrency must be a whole number from 1 to {MAX_CONCURRENCY}")
        check_seconds("claim_seconds", claim_seconds, MAX_CLAIM_SECONDS)
        check_seconds("drain_seconds", drain_seconds, MAX_DRAIN_SECONDS)
        self.target, self.client, self.exchange = target, client, Exchange(client, target)
        self.claim_seconds, self.drain_seconds = claim_seconds, drain_seconds
        self.holder = f"tool.{target} ({socket.gethostname()}, pid {os.getpid()})"[:128]
        self.hashes: Dict[str, str] = {}
        self.stopping = threading.Event()
        self.fault: Optional[ApiError] = None
        self._free, self._concurrency = threading.Semaphore(concurrency), concurrency
        self._running: Dict[Call, Optional[Tool]] = {}
        self._idle = threading.Condition()  # guards _running, and tells when a call is done

    @staticmethod
    def insist(work: Callable[[], Any], given_up: threading.Event) -> Any:
        """Tries until it works or cannot work; None when it was given up."""
        failures = 0
        while not given_up.is_set():
            try:
                return work()
            except ApiError as error:
                if not error.may_pass:
                    raise
                failures += 1
                if failures == 1:
                    log.warning("%s; trying again", error)
                given_up.wait(backoff(failures))
        return None

    def definition(self, item: Tool) -> Dict[str, Any]:
        said = item.definition(self.target)
        try:
            return self.scrub.json(said)
        except (TypeError, ValueError) as error:
            numbers = (number_without_json(said[key], key) for key in ("options", "parameters"))
            why = next(filter(None, numbers), f"the definition is not JSON: {error}")
            raise ApiError(400, "bad_request", f"{item.name}: {why}") from None

    def register(self, item: Tool) -> None:
        """Registers a definition that is new or changed."""
        mine, path = self.definition(item), f"/tools/{urllib.parse.quote(item.name, safe='')}"
        try:
            known, _ = self.client.request("GET", path)
        except ApiError as error:
            if error.status != 404:
                raise
            known = {}
        if any(known.get(key) != value for key, value in mine.items()):
            # As a service, whatever the token may do: what a person decided about the tool stays.
            try:
                known, _ = self.client.request("POST", "/tools", mine, headers={"toolplane-register-as": "service"})
            except ApiError as error:
                if error.code != "bad_request" or error.message.startswith(item.name):
                    raise
                # The server's sentence about a definition names only its options.
                raise ApiError(error.status, error.code, f"{item.name}: {error.message}", error.detail) from None
            for warning in known.get("warnings") or []:
                log.warning("%s: %s", item.name, warning)
            if known.get("outcome") == "pending":
                log.warning("a new version of %s waits for a person: toolplane tools accept %s", item.name, item.name)
            elif known.get("outcome") == "older":
                version = (known.get("sent") or {}).get("version")
                log.warning(
                    "%s: a newer version than this code's (version %s) is in force and stays; to go back to this one run: "
                    "toolplane tools accept %s --version %s", item.name, version, item.name, version,
                )
            else:
                log.info("registered %s version %s", item.name, known.get("version"))
        # The version that this code is, whether or not it is in force: calls of pinned tools come only to services that name it.
        self.hashes[item.name] = (known.get("sent") or known).get("definition_hash")

    def claim(self) -> None:
        """Claims what can be started at once (PY1), until the service stops."""
        path = f"/tool-services/{urllib.parse.quote(self.target, safe='')}/claim"
        failures = 0
        while not self.stopping.is_set():
            if not self._free.acquire(timeout=0.2):
                continue
            slots = 1
            while slots < self._concurrency and self._free.acquire(blocking=False):
                slots += 1
            calls: List[Call] = []
            try:
                body = {"max": slots, "wait_seconds": self.claim_seconds, "holder": self.holder}
                body["definitions"] = [found for found in self.hashes.values() if found][:MAX_NAMED]
                timeout = self.claim_seconds + REQUEST_SECONDS
                answer, server_now = self.client.request("POST", path, body, timeout=timeout)
                calls = [
                    Call(self.client, command, server_now, self.scrub, self.exchange) for command in answer["commands"]
                ]
                failures = 0
            except ApiError as error:
                failures += 1
                if not error.may_pass:
                    self.fault = error
                    self.stopping.set()
                elif failures == 1:
                    log.warning("%s; trying again", error)
                self.stopping.wait(backoff(failures))
            for _ in range(slots - len(calls)):
                self._free.release()
            for call in calls:
                self.start(call)

    def start(self, call: Call) -> None:
        if not call.id:  # no caller can be told; the lease lapses by itself
            log.error("a command names no call (CG-Tool-Call-Id) and was dropped")
            self._free.release()
            return
        if self.stopping.is_set():
            self.give_back(call)
            self._free.release()
            return
        with self._idle:
            self._running[call] = self.tools.get(str(call.payload.get("tool_name")))
        threading.Thread(target=call.keep, name=f"lease {call.id}", daemon=True).start()
        threading.Thread(target=self.work, args=(call,), name=f"call {call.id}", daemon=True).start()

    def give_back(self, call: Call) -> None:
        try:
            call.say("release", {"lease": call.lease})
        except ApiError as error:
            log.warning("call %s could not be given back: %s", call.id, error)

    def let_go(self, call: Call) -> None:
        """A run that the plane has ended is over: the next call of a limited tool may have its slot. The plane refuses it, as it refuses a late result."""
        try:
            call.say("release", {"lease": call.lease})
        except ApiError:
            pass

    def work(self, call: Call) -> None:
        item = self.tools.get(str(call.payload.get("tool_name")))
        try:
            outcome = self.run(call)
            if call.end("finished"):
                call.deliver(outcome)
        except GiveBack:
            if call.end("given back"):
                self.give_back(call)
        except Cancelled:
            # The server's own word has ended the call before; only a stop of this service comes first here.
            if call.end("stopped"):
                if item is not None and item.options.get("retry") == "safe":
                    self.give_back(call)
                else:
                    call.deliver(failed("canceled", "the service was stopped while the tool ran"))
        except Exception:  # a fault of this file, not of the tool; the caller must not wait for it
            log.exception("call %s could not be run", call.id)
            if call.end("fault"):
                call.deliver(failed("internal_error", "the tool service failed"))
        finally:
            call.done.set()
            if call.ended_by == "canceled":
                self.let_go(call)
            with self._idle:
                self._running.pop(call, None)
                self._idle.notify_all()
            self._free.release()

    def run(self, call: Call) -> Dict[str, Any]:
        try:
            item, arguments = self.accept(call)
        except ApiError as error:
            return failed(error.code, f"the call's card could not be read: {error}")
        except ToolError as error:
            return understand(error)
        missing = [name for name in item.secrets if not os.environ.get(name)]
        if missing:
            return failed("auth_failed", f"the variable {missing[0]} is not set where the tool runs")
        context = Context(call, {name: os.environ[name] for name in item.secrets})
        kwargs = {**arguments, **({item.context_name: context} if item.context_name else {})}
        try:
            return self.attempt(call, item, context, kwargs)
        finally:
            context.flush_parts()

    def attempt(self, call: Call, item: Tool, context: Context, kwargs: Dict[str, Any]) -> Dict[str, Any]:
        tries, outcome = 0, {}  # type: int, Dict[str, Any]
        while True:
            tries += 1
            try:
                value = item.run(**kwargs)
                result = asyncio.run(value) if inspect.iscoroutine(value) else value
                said = tried(outcome, tries, "the last try succeeded; the failure before it:")
                return {"status": "success", "result": result, **said}
            except Cancelled:
                raise
            except BaseException as error:  # noqa: BLE001 - a tool may raise anything, SystemExit too
                outcome = understand(error)
                if isinstance(error, ToolError):
                    log.warning("%s failed in call %s: %s: %s", item.name, call.id, error.code, error.message)
                else:
                    log.exception("%s failed in call %s", item.name, call.id)
                wait = backoff(tries)
                if call.once or not self.again(item, outcome["error"], tries) or wait >= context.remaining():
                    return {**outcome, **tried(outcome, tries, "the last failure:")}
                log.info("%s failed (%s) and is tried again", item.name, outcome["error"]["code"])
                call.cancelled.wait(wait)
                context.check()
                context.attempt += 1

    @staticmethod
    def again(item: Tool, error: Dict[str, Any], attempt: int) -> bool:
        if item.options.get("retry_policy") is not None:  # the plane tries it again: one lease runs the tool once
            return False
        advised = error.get("retryable", error["code"] in RETRY_CODES)
        return item.options.get("retry") == "safe" and attempt < MAX_ATTEMPTS and bool(advised)

    def accept(self, call: Call) -> Tuple[Tool, Dict[str, Any]]:
        """Checks the command and reads its card: arguments come from the card, identity from the headers."""
        payload = call.payload
        refused = [key for key in (*INLINE_FIELDS, *CONTROL_FIELDS) if key in payload]
        if refused:
            raise ToolError("protocol_violation", f"a command points to a card and carries no {refused[0]}")
        missing = [key for key in ("tool_call_card_id", "tool_name", "after_execution") if not payload.get(key)]
        if missing:
            raise ToolError("bad_request", f"missing required fields {missing}")
        if payload["after_execution"] not in ("suspend", "terminate"):
            raise ToolError("bad_request", "after_execution is neither suspend nor terminate")
        counts = [call.headers.get("cg-turn-epoch") or "0", call.headers.get("cg-recursion-depth", "0")]
        if not all(count.isascii() and count.isdigit() for count in counts):
            raise ToolError("protocol_violation", "CG-Turn-Epoch or CG-Recursion-Depth is not a number")
        if "traceparent" in call.headers and not SPAN.fullmatch(call.headers["traceparent"]):
            raise ToolError("protocol_violation", "traceparent cannot be read")
        item = self.tools.get(payload["tool_name"])
        if item is None:
            raise ToolError("not_found", f"this service has no tool {payload['tool_name']}")
        call.definition_hash = self.hashes.get(item.name)
        path = f"/calls/{urllib.parse.quote(call.id, safe='')}/card"
        answer = self.insist(lambda: self.client.request("GET", path), call.cancelled)
        if answer is None:
            raise GiveBack()
        card = answer[0]
        if not isinstance(card, dict) or card.get("card_id") != payload["tool_call_card_id"]:
            raise ToolError("not_found", "the card of this call is not there")
        if card.get("type") != "tool.call" or card.get("tool_call_id") not in (None, call.id):
            raise ToolError("protocol_violation", "the card is not the tool.call card of this call")
        arguments = (card.get("content") or {}).get("arguments")
        if not isinstance(arguments, dict):
            raise ToolError("protocol_violation", "the card holds no arguments")
        return item, arguments

    def drain(self) -> None:
        """Lets running calls finish; after drain_seconds asks them to stop, and gives back what may run elsewhere."""
        with self._idle:
            self._idle.wait_for(lambda: not self._running, timeout=self.drain_seconds)
            for call in self._running:
                call.cancelled.set()
            self._idle.wait_for(lambda: not self._running, timeout=STOP_SECONDS)
            left = list(self._running.items())
        for call, item in left:
            if not call.end("stopped"):
                call.done.wait(SETTLE_SECONDS)  # the tool has ended; its result is on its way and is waited for
            elif item is not None and item.options.get("retry") == "safe":
                self.give_back(call)
            else:
                log.warning("call %s did not stop; the server will notice that it is not run any more", call.id)


def watch_signals(stopping: threading.Event) -> None:
    """Sets `stopping` at SIGTERM or Ctrl-C; a second signal ends the process at once.

    Python runs a handler in the main thread only: while that thread sleeps, a signal that another thread took is not noticed, and
    a handler may find a lock taken by the code it interrupts. So the handler does nothing. The interpreter writes a byte for
    every signal, whichever thread took it, and a thread that holds no lock reads it.
    """
    heard, told = socket.socketpair()
    told.setblocking(False)

    def watch() -> None:
        while True:
            # Other signals that the process handles are told here too.
            if heard.recv(1)[0] in (signal.SIGTERM, signal.SIGINT):
                if stopping.is_set():
                    os._exit(1)
                stopping.set()

    signal.set_wakeup_fd(told.detach())
    threading.Thread(target=watch, name="signals", daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _signal, _frame: None)


def serve(
    tools: Sequence[Tool],
    target: str,
    *,
    url: Optional[str] = None,
    token: Optional[str] = None,
    project: Optional[str] = None,
    concurrency: int = 4,
    claim_seconds: float = 5.0,
    drain_seconds: float = 30.0,
) -> None:
    """Registers the tools and serves their calls until SIGTERM or Ctrl-C. A second signal ends the process at once.

    claim_seconds is how long one question for work stays open, and so how long an idle service takes to stop: 60 at most.
    """
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    token = token or os.environ.get("TOOLPLANE_TOKEN", "")
    if not token:
        raise SystemExit("toolplane: set TOOLPLANE_TOKEN (toolplane token create --role tool --targets TARGET)")
    try:
        client = Client(
            url,
            token,
            project or os.environ.get("TOOLPLANE_PROJECT") or "demo",
        )
    except ValueError:
        raise SystemExit(f"toolplane: bad_request: {wrong_address(url)}") from None
    scrub = Scrubber(known_secrets(tools, token))
    for handler in logging.getLogger().handlers:
        handler.addFilter(LogScrubber(scrub))
    service = Service(tools, target, client, concurrency, claim_seconds, drain_seconds, scrub)

    if threading.current_thread() is threading.main_thread():
        watch_signals(service.stopping)
    try:
        for item in service.tools.values():
            service.insist(lambda item=item: service.register(item), service.stopping)
    except ApiError as error:
        raise SystemExit(scrub.text(f"toolplane: {error}")) from None
    claimer = threading.Thread(target=service.claim, name="claim", daemon=True)
    claimer.start()
    log.info("serving %s for target %s", ", ".join(service.tools), target)
    service.stopping.wait()
    log.info("stopping")
    service.drain()
    claimer.join()  # calls that its last claim still brings are given back (PY1)
    if service.fault is not None:
        raise SystemExit(scrub.text(f"toolplane: {service.fault}"))


# ------------------------------------------------------------------------------------------------------ for callers


WAIT_SECONDS = 30.0  # for a result, unless its caller says otherwise
SLICE_SECONDS = 120.0  # the longest single question
STARTUP_SECONDS = 5.0  # how long to try a server that has never answered
BATCH_ITEMS, BATCH_CHARS = 256, 1024 * 1024  # of one request; an item that is larger travels alone
SHORTEST_PAUSE = 0.1  # what is left of a wait and shorter is not worth another try
SETTLED = frozenset("success failed canceled timeout partial".split())
LATER_CODES = frozenset("inbox_not_empty agent_busy rate_limited storage_error breaker_open still_running".split())


# Codes that have a meaning here (docs/reference/errors.md); any other is a tool's own.
ERROR_CODES = frozenset(
    """
    bad_request protocol_violation unauthorized auth_failed invalid_source_actor approval_denied not_found approval_expired
    conflict idempotency_conflict lease_lost already_settled definition_changed recursion_depth_exceeded inbox_not_empty agent_busy
    payload_too_large result_too_large tool_error result_not_serializable error_not_serializable invalid_status
    invalid_after_execution rate_limited canceled internal_error unknown_error outcome_unknown storage_error upstream_unavailable
    breaker_open queue_timeout tool_timeout still_running
    """.split()
)
# For an error without a code: what follows from how the call ended.
BY_STATUS = {"canceled": "canceled", "timeout": "tool_timeout", "partial": "tool_error"}


class ToolplaneError(Exception):
    """A call that has no result: code, message, detail, retryable, and the call's id when one exists.

    The code is one of the error table. When the tool failed with a code of its own, code is tool_error and detail["code"] holds
    the tool's. A partial result raises too: detail["result"] holds the part that succeeded.
    """

    def __init__(self, code: str, message: str, detail: Any = None, call_id: Optional[str] = None):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.detail, self.call_id = code, message, detail, call_id

    @property
    def retryable(self) -> bool:
        return self.code in LATER_CODES


def result_of(call: Dict[str, Any]) -> Any:
    """The result of a call that succeeded; raises the error of any other."""
    status, call_id = call.get("status"), call.get("tool_call_id")
    if status == "success":
        return call.get("result")
    if status not in SETTLED:
        todo = "the call goes on: wait for it by its id"
        raise ToolplaneError("still_running", f"call {call_id} is {status} at the end of the wait; {todo}", None, call_id)
    error = call.get("error") or {}
    own, said = error.get("code"), error.get("detail")
    code = own if own in ERROR_CODES else "tool_error" if own else BY_STATUS.get(str(status), "unknown_error")
    detail = dict(said) if isinstance(said, dict) else {} if said is None else {"detail": said}
    detail.update({"code": own} if own and own != code else {})
    detail.update({"status": status})
    detail.update({"result": call.get("result")} if status == "partial" else {})
    message = str(error.get("message") or f"the call ended as {status}")
    raise ToolplaneError(str(code), message, detail, call_id)


# Nothing was sent: no server listens at the address.
NOBODY_THERE = (ConnectionRefusedError, socket.gaierror)
# What TLS says of a peer that answers in plain text.
NO_TLS = ("WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")


def seconds_of(wait: Any) -> float:
    if isinstance(wait, (int, float)) and not isinstance(wait, bool) and wait >= 0:
        return float(wait)
    raise ToolplaneError("bad_request", f"wait is a number of seconds, 0 or more, not {wait!r}")


def pair_of(item: Any) -> Tuple[str, Any]:
    """A text of two characters can be unpacked too, so what is no list and no tuple is refused."""
    if isinstance(item, (list, tuple)) and len(item) == 2:
        return item[0], item[1]
    like = '("count_words", {"text": "a b"})'
    why = f"a call of call_many is a pair of a tool and its arguments, such as {like}, not {item!r:.100}"
    raise ToolplaneError("bad_request", why)


def number_without_json(value: Any, place: str = "arguments") -> str:
    """Names the first number that JSON does not have, by its path; empty when there is none."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{place} is {value}; JSON has no NaN and no infinities; send None, a text or a finite number"
    if isinstance(value, dict):
        inner: Iterable[str] = (number_without_json(item, f"{place}.{key}") for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        inner = (number_without_json(item, f"{place}[{at}]") for at, item in enumerate(value))
    else:
        return ""
    return next(filter(None, inner), "")


def path_of(call_id: Any) -> str:
    """An empty id, or a step in a path, would ask another route."""
    if isinstance(call_id, str) and call_id not in ("", ".", ".."):
        return f"/calls/{urllib.parse.quote(call_id, safe='')}"
    raise ToolplaneError("bad_request", f"the id of a call is a text as the plane gave it, not {call_id!r}")


class Plane:
    """Calls tools. Threads may share one."""

    def __init__(self, client: Client):
        self._client, self._answered, self._began = client, False, time.monotonic()

    def _trouble(self, error: ApiError) -> Tuple[ToolplaneError, bool]:
        """The error for the caller, and whether to try again may help. It names the address where no server was found."""
        cause, url = error.__cause__, self._client.url
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = f"the certificate of {url} is not accepted: {cause.verify_message}"
            return ToolplaneError("upstream_unavailable", why), False
        if isinstance(cause, ssl.SSLError) and cause.reason in NO_TLS:  # others pass: a handshake is cut off while a server restarts
            why = f"{url} does not speak TLS; write http:// if the server has no certificate"
            return ToolplaneError("upstream_unavailable", why), False
        if isinstance(cause, NOBODY_THERE):
            todo = "start it with: toolplane up, or name another one in TOOLPLANE_URL"
            return ToolplaneError("upstream_unavailable", f"no server answers at {url}; {todo}", {"todo": todo}), True
        return ToolplaneError(error.code, error.message, error.detail), error.may_pass

    def _insist(self, until: float, work: Callable[[], Any]) -> Any:
        """Tries until it works, fails for good, or the time is over."""
        failures = 0
        while True:
            try:
                answer = work()
                self._answered = True
                return answer
            except ApiError as error:
                self._answered = self._answered or not isinstance(error.__cause__, NOBODY_THERE)
                failures += 1
                pause = max(error.asked_pause, backoff(failures))
                end = until if self._answered else min(until, self._began + STARTUP_SECONDS)
                trouble, may_pass = self._trouble(error)
                left = end - time.monotonic()
                if not may_pass or left < max(error.asked_pause, SHORTEST_PAUSE):
                    raise trouble from error
                time.sleep(min(pause, left))  # the last try is at the end

    def _ask(self, wait: float, ask: Callable[[float], Dict[str, Any]]) -> Dict[str, Any]:
        """Asks until the call is over, or the wait is. Without a wait, handing a call over is tried a while."""
        until, pause = time.monotonic() + wait, 0.1
        while True:
            asked = time.monotonic()
            left = max(0.0, until - asked)
            end = until if wait > 0 else asked + 10
            answer = self._insist(end, lambda: ask(min(max(0.0, until - time.monotonic()), SLICE_SECONDS)))
            now = time.monotonic()
            if answer.get("status") in SETTLED or now >= until:
                return answer
            if now - asked < min(left, SLICE_SECONDS) / 2:  # a server that ends a wait so early is about to stop
                time.sleep(min(pause, until - now))
                pause = min(pause * 2, 3.0)

    @staticmethod
    def _body(tool: str, args: Any, key: Optional[str], agent: Optional[str]) -> Dict[str, Any]:
        if key is not None and not (isinstance(key, str) and key):
            why = f"the key must be a text that is not empty, not {key!r}; without one, a key is made up"
            raise ToolplaneError("bad_request", why)
        body = {"tool_name": tool, "arguments": {} if args is None else args}
        try:
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            try:
                why = number_without_json(body["arguments"]) or str(error)
            except RecursionError:
                why = str(error)
            raise ToolplaneError("bad_request", f"the arguments are not JSON: {why}") from error
        body["idempotency_key"] = f"python-{secrets.token_hex(16)}" if key is None else key
        return body if agent is None else {**body, "agent_id": agent}

    @staticmethod
    def _unanswered(trouble: ToolplaneError, may_pass: bool, lost: bool, key: str, call_id: Optional[str]) -> ToolplaneError:
        """The error of a call that could not be asked for. With the key of its detail a program asks for the same call."""
        detail = {**(trouble.detail if isinstance(trouble.detail, dict) else {}), "idempotency_key": key}
        if not may_pass or not (lost or call_id):
            return ToolplaneError(trouble.code, trouble.message, detail, call_id)
        made = f"call {call_id} was made" if call_id else "the call may have been made"
        todo = "call again with the same arguments and key=error.detail['idempotency_key'] to get its result"
        why = f"{made} and may be running: the wait ended without an answer ({trouble.message}); {todo}"
        return ToolplaneError("outcome_unknown", why, {**detail, "todo": todo}, call_id)

    def _make(self, body: Dict[str, Any], wait: float) -> Dict[str, Any]:
        lost, call_id = False, None

        def ask(seconds: float) -> Dict[str, Any]:
            nonlocal lost, call_id
            timeout = seconds + REQUEST_SECONDS
            try:
                answer = self._client.request("POST", "/calls", {**body, "wait_seconds": seconds}, timeout=timeout)[0]
            except ApiError as error:
                lost = lost or error.lost
                raise
            call_id = answer.get("tool_call_id") or call_id
            return answer

        try:
            return self._ask(wait, ask)
        except ToolplaneError as trouble:
            error = trouble.__cause__
            if not isinstance(error, ApiError) or not (error.status == 0 or lost or call_id):
                raise  # the plane has refused it
            raise self._unanswered(trouble, error.may_pass, lost, body["idempotency_key"], call_id) from error

    def call(
        self, tool: str, args: Any = None, *, key: Optional[str] = None, wait: float = WAIT_SECONDS,
        agent: Optional[str] = None,
    ) -> Any:
        """Makes a durable call and gives its result; raises ToolplaneError when it has none."""
        return result_of(self._make(self._body(tool, args, key, agent), seconds_of(wait)))

    def start(self, tool: str, args: Any = None, *, key: Optional[str] = None, agent: Optional[str] = None) -> str:
        """Makes a call without waiting for it, and gives its id: the text that wait, cancel and why take."""
        return str(self._make(self._body(tool, args, key, agent), 0)["tool_call_id"])

    def wait(self, call_id: str, wait: float = WAIT_SECONDS) -> Any:
        """The result of a call that was made before."""
        path, seconds_left = path_of(call_id), seconds_of(wait)

        def ask(seconds: float) -> Dict[str, Any]:
            return self._client.request("GET", f"{path}?wait_seconds={seconds}", timeout=seconds + REQUEST_SECONDS)[0]

        try:
            answer = self._ask(seconds_left, ask)
        except ToolplaneError as trouble:
            trouble.call_id = call_id
            raise
        return result_of(answer)

    def _on_call(self, method: str, call_id: str, action: str, body: Optional[Dict[str, Any]] = None) -> Any:
        path = f"{path_of(call_id)}/{action}"
        return self._insist(time.monotonic() + 10, lambda: self._client.request(method, path, body)[0])

    def cancel(self, call_id: str, reason: Optional[str] = None) -> Dict[str, Any]:
        return self._on_call("POST", call_id, "cancel", {} if reason is None else {"reason": reason})

    def why(self, call_id: str) -> Dict[str, Any]:
        """Where a call is and what it waits for."""
        return self._on_call("GET", call_id, "why")

    def call_many(
        self, calls: Iterable[Tuple[str, Any]], *, wait: float = WAIT_SECONDS, agent: Optional[str] = None
    ) -> Iterator[Tuple[int, Any]]:
        """Makes many calls in few requests; gives (index, result or ToolplaneError) as they settle."""
        left: Dict[int, str] = {}  # as JSON, without the wait and the closing brace
        keys: Dict[int, str] = {}
        asked: Dict[int, int] = {}  # how often
        until, failures = time.monotonic() + seconds_of(wait), 0
        refused: List[Tuple[int, ToolplaneError]] = []
        for index, item in enumerate(calls):
            try:
                body = self._body(*pair_of(item), None, agent)
            except ToolplaneError as error:
                refused.append((index, error))
            else:
                left[index], keys[index], asked[index] = json.dumps(body)[:-1], body["idempotency_key"], 0
        yield from refused
        made: Dict[int, Optional[str]] = {}  # calls that the plane has, and their ids
        lost: Set[int] = set()  # calls that the plane may have
        while left:
            now = time.monotonic()
            group = sorted(list(left)[:BATCH_ITEMS], key=asked.__getitem__)
            indexes = self._fitting(group, left)
            others = group[len(indexes) :]
            known = (len(left), len(made))
            # Large calls travel in several requests: all are made before one is waited for, so that they run side by side.
            most = 0.0 if not all(asked[index] for index in others) else SLICE_SECONDS if made.keys() >= set(others) else 2.0
            seconds = min(max(0.0, until - now), most)
            for index in indexes:
                asked[index] += 1
            body = "[%s]" % ",".join(f'{left[index]}, "wait_seconds": {seconds}}}' for index in indexes)
            silent = set(indexes)
            trouble: Optional[ToolplaneError] = None
            nowhere = over = may_pass = False
            try:
                for answer in self._client.lines("/calls/batch", body.encode(), seconds + REQUEST_SECONDS):
                    self._answered, index = True, indexes[int(answer["index"])]
                    silent.discard(index)
                    if "status" in answer:
                        made[index] = answer.get("tool_call_id")
                    outcome = self._settled(answer, until)
                    if outcome is not None:
                        del left[index]
                        end, later = outcome[0], "status" not in answer and answer["error"].get("retryable")
                        may_run = later and (index in made or index in lost)
                        yield index, self._unanswered(end, True, True, keys[index], made.get(index)) if may_run else end
                if silent:
                    why = "the server ended its answer before every call was answered"
                    raise ApiError(0, "upstream_unavailable", why, None, True)
            except ApiError as error:
                trouble, may_pass = self._trouble(error)
                nowhere = error.status == 0
                lost.update(silent if error.lost else ())
                over = not may_pass or (nowhere and not self._answered and now > self._began + STARTUP_SECONDS)
            failures = failures + 1 if trouble else 0
            if trouble and (over or time.monotonic() >= until):
                for index in list(left) if nowhere else indexes:
                    if left.pop(index, None) is not None:
                        is_lost, call_id = index in lost, made.get(index)
                        is_refused = not (nowhere or is_lost or index in made)
                        yield index, trouble if is_refused else self._unanswered(trouble, may_pass, is_lost, keys[index], call_id)
            elif trouble or (len(left), len(made)) == known:  # also after a server that lets go of a wait because it is about to stop
                time.sleep(min(backoff(failures or 1), max(0.0, until - time.monotonic())))

    @staticmethod
    def _fitting(indexes: List[int], texts: Dict[int, str]) -> List[int]:
        """As many as one request may hold, at least one."""
        chars = 0
        for count, index in enumerate(indexes):
            chars += len(texts[index]) + 50  # with its wait
            if count and chars > BATCH_CHARS:
                return indexes[:count]
        return indexes

    @staticmethod
    def _settled(answer: Dict[str, Any], until: float) -> Optional[Tuple[Any]]:
        """What a line of a batch says; None when the call is to be asked for again."""
        error = answer.get("error")
        if "status" not in answer and isinstance(error, dict):
            code, over = str(error.get("code")), time.monotonic() >= until
            if error.get("retryable") and not over:
                return None
            return (ToolplaneError(code, str(error.get("message", "")), error.get("detail")),)
        if answer.get("status") not in SETTLED and time.monotonic() < until:
            return None
        try:
            return (result_of(answer),)
        except ToolplaneError as failed_call:
            return (failed_call,)


def connect(url: Optional[str] = None, token: Optional[str] = None, project: Optional[str] = None) -> Plane:
    """A client of the plane that TOOLPLANE_URL, TOOLPLANE_TOKEN and TOOLPLANE_PROJECT name, unless told otherwise."""
    try:
        client = Client(
            url,
            token or os.environ.get("TOOLPLANE_TOKEN", ""),
            project or os.environ.get("TOOLPLANE_PROJECT") or "demo",
        )
    except ValueError:
        raise ToolplaneError("bad_request", wrong_address(url)) from None
    return Plane(client)
