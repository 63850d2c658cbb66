"""A tool host in Python: runs a module's tools over lines of JSON on stdin and stdout. One file, standard library only,
Python 3.9 or later: it is copied to where the tools are, so it stays one file and nothing has to be installed.

    python3 toolplane_host.py MODULE          # MODULE: a file, or the name of an importable module

The module has functions, or one class or object with methods:

    def init(config): ...                                       # -> the state a session begins with (optional)
    def get_tool_schemas(state): ...                            # -> [{"name", "description", "parameters"}]
    def execute_tool(tool_name, arguments, state, emit): ...    # -> {"success": True, "result": ...}
                                                                #    or {"success": False, "error": "..."}

and may have get_config_schema, get_ui_elements, get_tags, required_tags, format_tool_result, format_tool_call_preview and
to_display_format. Each gets, by name, what its parameters ask for. Functions may be `async`. A module whose functions are
decorated with `toolplane.tool` needs none of this: everything is derived.

What the file promises:
  PH1. Every request is answered exactly once, requests run at the same time, and no line and no exception ends the host.
  PH2. Only answers and events reach the parent: what the module, its libraries or its children print goes to stderr.
  PH3. A canceled request is answered when its code has come back. A thread cannot be ended from outside: a sync function
      that takes long must look at `cancelled` (an Event); an async one gets a CancelledError.
  PH4. At the end of stdin what runs is finished within a bound, then the host exits with code 0.
  PH5. Answers that wait for a parent that does not read are bounded by what was in flight; parts beyond that wait or are lost.
"""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import importlib
import importlib.util
import inspect
import json
import os
import sys
import threading
import time
import traceback
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Set, Tuple

MAX_LINE_BYTES = 64 * 1024 * 1024  # room for a call with the largest arguments, and the line around them
MAX_VALUE_BYTES = 128 * 1024 * 1024  # one line of this length already takes a text of as much memory
MAX_DEPTH = 64  # deep enough for real data, shallow enough for every reader
LINE_DEPTH = MAX_DEPTH + 4  # arguments sit three levels down in the line
MAX_RUNNING = 10_000  # a parent that sends more without waiting is broken
MAX_THREADS = 256  # sync functions that run at the same time; more wait for a thread
LONG_LINE = 256 * 1024  # longer answers may be overtaken by short ones
PART_ROOM = 1024 * 1024  # emit waits while more than this waits for the parent
MAX_WAITING_PARTS = 16 * 1024 * 1024  # parts of async code that does not await emit are dropped from here on
PAUSE_BYTES = 16 * 1024 * 1024  # with this much waiting no further requests are read
DRAIN_SECONDS = 10.0
FLUSH_SECONDS = 5.0
DEADLINE_TICK_SECONDS = 0.02
MAX_DEADLINE_MS = 1e12  # thirty years; a number beyond what a float holds must not fail where it is used
CANCELED = "the request was canceled"
MAX_TEXT = 16_384  # a message or a stack is for a person

EXTENSIONS = ("cancel", "ping", "shutdown", "log", "deadline")

# What each function may ask for, by name.
PARAMETERS: Dict[str, Tuple[str, ...]] = {
    "init": ("config",),
    "get_tool_schemas": ("state",),
    "execute_tool": ("tool_name", "arguments", "state", "emit", "cancelled", "deadline_ms", "log"),
    "get_config_schema": (),
    "get_ui_elements": (),
    "get_tags": ("config", "models"),
    "required_tags": (),
    "format_tool_result": ("result", "state"),
    "format_tool_call_preview": ("tool_name", "arguments", "state"),
    "to_display_format": ("text", "result", "state"),
}
REQUIRED = ("get_tool_schemas", "execute_tool")


class Fault(Exception):
    """Something the host itself answers with; `type` is the word on the wire."""

    def __init__(self, type: str, detail: str, request_id: Optional[str] = None):
        super().__init__(detail)
        self.type, self.detail, self.request_id = type, detail, request_id


def note(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


# ------------------------------------------------------------------------------------------------------------ JSON


def nesting(value: Any, limit: int) -> int:
    """How deep a value is; looks no further than one level beyond the limit."""
    level, here = 0, [value]
    while level <= limit:
        here = [
            item
            for container in here
            if isinstance(container, (dict, list, tuple))
            for item in ((container.values() if isinstance(container, dict) else container) or (None,))
        ]
        if not here:
            return level
        level += 1
    return level


def too_deep(value: Any, text: str, limit: int) -> bool:
    """A text with few brackets cannot be deep, so most are not walked."""
    return text.count("{") + text.count("[") > limit and nesting(value, limit) > limit


def path_of(steps: Sequence[Any]) -> str:
    text = "$"
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if step.isidentifier() and step.isascii() else f"[{json.dumps(step)}]"
    return text


def find_fault(value: Any, steps: Tuple[Any, ...] = ()) -> Optional[str]:
    """Where a value is not JSON, and why."""
    if value is None or isinstance(value, (str, bool, int)):
        return None
    if isinstance(value, float):
        finite = value == value and value not in (float("inf"), float("-inf"))
        return None if finite else f"{value} at {path_of(steps)}"
    if len(steps) >= MAX_DEPTH:
        return f"more than {MAX_DEPTH} levels of nesting, or a cycle, at {path_of(steps)}"
    if isinstance(value, dict):
        for key, item in value.items():
            if not (key is None or isinstance(key, (str, int, float))):
                return f"a key that is a {type(key).__name__} at {path_of(steps)}"
            fault = find_fault(item, (*steps, key if isinstance(key, str) else json.dumps(key)))
            if fault:
                return fault
        return None
    if isinstance(value, (list, tuple)):
        return next((fault for index, item in enumerate(value) for fault in [find_fault(item, (*steps, index))] if fault), None)
    return f"a {type(value).__name__} at {path_of(steps)}"


def to_json(value: Any, what: str) -> str:
    """The text of a value, or a fault that names the path."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        if len(text) <= MAX_VALUE_BYTES and not too_deep(value, text, MAX_DEPTH):
            return text
        why = find_fault(value) or f"the value is larger than {MAX_VALUE_BYTES} bytes of JSON"
    except Exception as error:  # noqa: BLE001 - whatever reading a foreign object may raise
        try:
            why = find_fault(value) or str(error)
        except Exception:  # noqa: BLE001
            why = f"reading it failed ({type(error).__name__})"
    raise Fault("NotJson", f"{what} cannot be sent: {why}")


def encode(text: str) -> bytes:
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate: JSON can say it, UTF-8 cannot
        return json.dumps(json.loads(text), separators=(",", ":")).encode() + b"\n"


def success_line(request_id: str, value: str, state: Optional[str] = None) -> bytes:
    rest = "" if state is None else f',"state":{state}'
    return encode(f'{{"v":1,"id":{json.dumps(request_id)},"ok":true,"result":{{"value":{value}{rest}}}}}')


def failure_line(request_id: Optional[str], error: Dict[str, Any]) -> bytes:
    return encode(json.dumps({"v": 1, "id": request_id, "ok": False, "error": error}, separators=(",", ":")))


def event_line(request_id: str, type: str, payload: str) -> bytes:
    return encode(f'{{"v":1,"id":{json.dumps(request_id)},"event":{{"type":"{type}","payload":{payload}}}}}')


def describe(error: BaseException) -> Dict[str, Any]:
    if isinstance(error, Fault):
        return {"type": error.type, "detail": error.detail[:MAX_TEXT]}
    try:
        detail = str(error)
    except Exception:  # noqa: BLE001
        detail = "an error that cannot be read"
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {"type": type(error).__name__, "detail": detail[:MAX_TEXT], "stack": stack[-MAX_TEXT:]}


# --------------------------------------------------------------------------------------------------------- reading


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def parse_line(line: bytes) -> Tuple[str, str, Dict[str, Any]]:
    """Id, method and params of a request; a Fault says what to answer."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise Fault("ParseError", "the line is not UTF-8") from None
    try:
        message = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise Fault("ParseError", "the text is not valid JSON") from None
    if too_deep(message, text, LINE_DEPTH):
        raise Fault("ParseError", f"the JSON is nested deeper than {LINE_DEPTH} levels")
    if not isinstance(message, dict):
        raise Fault("ParseError", "the line is not an object")
    request_id = message.get("id") if is_text(message.get("id")) else None
    version = message.get("v")
    if isinstance(version, bool) or version != 1:
        raise Fault("VersionError", "v must be 1", request_id)
    if request_id is None:
        raise Fault("InvalidParams", "id must be a non-empty string")
    if not is_text(message.get("method")):
        raise Fault("InvalidParams", "method must be a name: a host takes requests only", request_id)
    params = message.get("params")
    if params is not None and not isinstance(params, dict):
        raise Fault("InvalidParams", "params must be an object", request_id)
    return request_id, message["method"], params or {}


def is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


# What must be there, and of which kind; None: anything, but it must be there.
REQUIRED_PARAMS: Dict[str, Dict[str, Optional[Callable[[Any], bool]]]] = {
    "init": {"config": is_object},
    "get_tool_schemas": {"state": is_object},
    "execute_tool": {"tool_name": is_name, "arguments": is_object, "state": is_object},
    "get_tags": {"config": is_object, "models": is_objects},
    "format_tool_result": {"result": None, "state": is_object},
    "format_tool_call_preview": {"tool_name": is_name, "arguments": is_object, "state": is_object},
    "to_display_format": {"text": lambda value: isinstance(value, str), "result": None, "state": is_object},
    "hello": {"extensions": is_texts},
    "cancel": {"id": is_name},
}


def check_params(method: str, params: Dict[str, Any], request_id: str) -> None:
    for name, fits in REQUIRED_PARAMS.get(method, {}).items():
        if name not in params or (fits is not None and not fits(params[name])):
            raise Fault("InvalidParams", f"{method}: {name} is missing or of the wrong kind", request_id)
    deadline = params.get("deadline_ms", 0) if method == "execute_tool" else 0
    if isinstance(deadline, bool) or not isinstance(deadline, (int, float)) or deadline < 0:
        raise Fault("InvalidParams", f"{method}: deadline_ms must be a number, 0 or more", request_id)


def read_lines(descriptor: int, take: Callable[[bytes], None], refuse: Callable[[Fault], None]) -> None:
    """Until the end of the input. A line over the limit is refused once and not kept."""
    held: List[bytes] = []
    held_bytes, skipping = 0, False
    while True:
        try:
            chunk = os.read(descriptor, 1 << 16)
        except OSError:
            chunk = b""
        if not chunk:
            if held:
                take(b"".join(held))
            return
        start = 0
        while start < len(chunk):
            end = chunk.find(b"\n", start)
            piece = chunk[start : len(chunk) if end < 0 else end]
            if not skipping and held_bytes + len(piece) > MAX_LINE_BYTES:
                refuse(Fault("ParseError", f"the line is longer than {MAX_LINE_BYTES} bytes"))
                held, held_bytes, skipping = [], 0, True
            if not skipping:
                held.append(piece)
                held_bytes += len(piece)
            if end < 0:
                break
            if not skipping:
                take(b"".join(held))
            held, held_bytes, skipping = [], 0, False
            start = end + 1


# --------------------------------------------------------------------------------------------------------- writing


class Writer:
    """A thread that writes. Lines of one request keep their order; a long answer, which is its request's last line, may be
    overtaken by the short lines of others."""

    def __init__(self, descriptor: int, on_broken: Callable[[], None]):
        self._descriptor, self._on_broken = descriptor, on_broken
        self._short: Deque[bytes] = deque()
        self._long: Deque[bytes] = deque()
        self._changed = threading.Condition()
        self._waiting, self._broken = 0, False
        self._rooms: List[Tuple[int, Callable[[], None]]] = []
        threading.Thread(target=self._run, name="toolplane-writer", daemon=True).start()

    def write(self, line: bytes, answer: bool = False) -> None:
        with self._changed:
            if self._broken:
                return
            (self._long if answer and len(line) >= LONG_LINE else self._short).append(line)
            self._waiting += len(line)
            self._changed.notify_all()

    def waiting(self) -> int:
        return self._waiting

    def wait_below(self, limit: int, seconds: Optional[float] = None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._broken or self._waiting < limit, seconds)

    def when_below(self, limit: int, call: Callable[[], None]) -> None:
        """Calls back from the writing thread, or at once."""
        with self._changed:
            if not self._broken and self._waiting >= limit:
                self._rooms.append((limit, call))
                return
        call()

    def _next(self) -> List[bytes]:
        with self._changed:
            self._changed.wait_for(lambda: self._short or self._long)
            batch = [b"".join(self._short)] if self._short else []
            self._short.clear()
            if self._long:
                batch.append(self._long.popleft())
        return batch

    def _sent(self, count: int, broken: bool = False) -> None:
        with self._changed:
            self._waiting -= count
            self._broken = broken
            free = [room for room in self._rooms if broken or self._waiting < room[0]]
            self._rooms = [room for room in self._rooms if room not in free]
            self._changed.notify_all()
        for _, call in free:
            call()

    def _run(self) -> None:
        try:
            while True:
                for piece in self._next():
                    rest = memoryview(piece)
                    while rest:
                        count = os.write(self._descriptor, rest[: 1 << 20])
                        self._sent(count)
                        rest = rest[count:]
        except OSError:
            self._sent(0, broken=True)
            self._on_broken()


# ------------------------------------------------------------------------------------------------------ the plugin


class Plugin:
    """The functions of a module by the names of the protocol, ready to be called with what they ask for."""

    def __init__(self, found: Any, name: str):
        self.functions: Dict[str, Callable[..., Any]] = {}
        self._async: Set[str] = set()
        self._bindings: Dict[str, Callable[[Dict[str, Any]], Tuple[List[Any], Dict[str, Any]]]] = {}
        for method in PARAMETERS:
            function = getattr(found, method, None)
            if callable(function):
                self.functions[method] = function
                self._bindings[method] = self._bind(method, function, name)
                if any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None)))):
                    self._async.add(method)
        for method in REQUIRED:
            if method not in self.functions:
                raise TypeError(f"{name} has no {method}, which every plugin needs")

    @staticmethod
    def _bind(method: str, function: Callable[..., Any], name: str) -> Callable[[Dict[str, Any]], Any]:
        known = PARAMETERS[method]
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return lambda given: ([], {key: given[key] for key in known})
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return lambda given: ([], {key: given[key] for key in known})
        named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL]
        # One value: whatever the parameter is called, it is this one.
        if len(known) == 1 and len(named) == 1 and named[0].kind is not named[0].KEYWORD_ONLY:
            return lambda given: ([given[known[0]]], {})
        asked = [parameter.name for parameter in named if parameter.name in known]
        for parameter in named:
            if parameter.name not in known and parameter.default is parameter.empty:
                offered = ", ".join(known) or "nothing"
                raise TypeError(f"{name}: {method} may ask for {offered}, not for {parameter.name}")
        return lambda given: ([], {key: given[key] for key in asked})

    def offers(self, method: str) -> bool:
        return method == "init" or method in self.functions

    def is_async(self, method: str) -> bool:
        return method in self._async

    def call(self, method: str, given: Dict[str, Any]) -> Any:
        if method not in self.functions:
            return {}
        positional, named = self._bindings[method](given)
        return self.functions[method](*positional, **named)


class Call:
    """What a tool made with toolplane.tool may know and do besides its arguments."""

    def __init__(
        self, emit: Callable[[Any], Any], cancelled: threading.Event, deadline_ms: Optional[float], secrets: Dict[str, str]
    ):
        self.emit, self.cancelled, self.attempt, self.secrets = emit, cancelled, 1, secrets
        self._deadline = None if deadline_ms is None else time.monotonic() + deadline_ms / 1000

    def remaining(self) -> float:
        return float("inf") if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def check(self) -> None:
        if self.cancelled.is_set() or self.remaining() == 0:
            raise concurrent.futures.CancelledError("the call was canceled or is out of time")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name} is not known in a tool host: serve the tool with toolplane.serve where it needs it")


def as_text(result: Any) -> str:
    if isinstance(result, dict) and isinstance(result.get("success"), bool):
        result = result.get("result" if result["success"] else "error")
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, separators=(",", ":"))


class DecoratedTools:
    """Tools made with toolplane.tool as a plugin: every method derived from them."""

    def __init__(self, tools: Sequence[Any]):
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) < len(tools):
            raise TypeError("two tools have the same name")

    def init(self, config: Dict[str, Any]) -> Dict[str, Any]:
        return {}

    def get_tool_schemas(self, state: Any) -> List[Dict[str, Any]]:
        return [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in self._tools.values()
        ]

    def execute_tool(
        self, tool_name: str, arguments: Dict[str, Any], emit: Any, cancelled: threading.Event, deadline_ms: Any
    ) -> Any:
        tool = self._tools.get(tool_name)
        if tool is None:
            return {"success": False, "error": f"there is no tool {tool_name} here"}
        given = dict(arguments)
        if tool.context_name:
            # The parent removes them from whatever leaves this process; here they are only handed over.
            secrets = {name: os.environ[name] for name in getattr(tool, "secrets", ()) if name in os.environ}
            given[tool.context_name] = Call(emit, cancelled, deadline_ms, secrets)
        try:
            returned = tool.run(**given)
        except Exception as error:  # noqa: BLE001
            return self._refused(error)
        return self._finish(returned) if inspect.isawaitable(returned) else {"success": True, "result": returned}

    async def _finish(self, returned: Any) -> Any:
        try:
            return {"success": True, "result": await returned}
        except Exception as error:  # noqa: BLE001
            return self._refused(error)

    @staticmethod
    def _refused(error: Exception) -> Dict[str, Any]:
        """The tool said no, in words meant for the caller; anything else is a failure of the tool itself."""
        if type(error).__name__ == "ToolError" and hasattr(error, "code"):
            return {"success": False, "error": str(error)}
        raise error

    def get_config_schema(self) -> Dict[str, Any]:
        return {"type": "object", "properties": {}, "additionalProperties": False}

    def get_ui_elements(self) -> List[Any]:
        return []

    def get_tags(self) -> List[str]:
        return []

    def required_tags(self) -> List[str]:
        return []

    def format_tool_result(self, result: Any) -> str:
        return as_text(result)

    def format_tool_call_preview(self, tool_name: str, arguments: Dict[str, Any]) -> str:
        return f"{tool_name}({as_text(arguments)[:200]})"

    def to_display_format(self, text: str, result: Any) -> Dict[str, Any]:
        return {"text": text or as_text(result)}


def is_tool(value: Any) -> bool:
    return not isinstance(value, type) and all(
        hasattr(value, name) for name in ("name", "description", "parameters", "run", "context_name")
    )


def find_plugin(module: Any, name: str) -> Plugin:
    """The module's own functions, else its class or object with execute_tool, else its decorated tools."""
    if callable(getattr(module, "execute_tool", None)):
        return Plugin(module, name)
    values = [value for key, value in vars(module).items() if not key.startswith("_")]
    for value in values:
        own = isinstance(value, type) and value.__module__ == module.__name__
        if own and callable(getattr(value, "execute_tool", None)):
            return Plugin(value(), name)
    for value in values:
        if not isinstance(value, type) and callable(getattr(value, "execute_tool", None)):
            return Plugin(value, name)
    tools = [value for value in values if is_tool(value)]
    if tools:
        return Plugin(DecoratedTools(tools), name)
    raise TypeError(f"{name} has neither get_tool_schemas and execute_tool nor functions made tools by toolplane.tool")


def load_module(name: str) -> Any:
    if not os.path.isfile(name):
        if os.sep in name or name.endswith(".py"):
            raise FileNotFoundError(f"{os.path.abspath(name)}: there is no such file")
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(name)
    path = os.path.abspath(name)
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# -------------------------------------------------------------------------------------------------------- the host


class Room:
    """What emit returns: nothing needs to be done with it; async code may await it to be slowed down to what is read."""

    def __init__(self, writer: Writer):
        self._writer = writer

    def __await__(self) -> Any:
        loop = asyncio.get_running_loop()
        free = loop.create_future()
        done = lambda: loop.call_soon_threadsafe(lambda: free.done() or free.set_result(None))  # noqa: E731
        self._writer.when_below(PART_ROOM, done)
        return free.__await__()


class Run:
    """One request while plugin code works on it."""

    def __init__(self, host: "Host", request_id: str, method: str, params: Dict[str, Any]):
        self.host, self.id, self.method, self.params = host, request_id, method, params
        self.state = params.get("state") if isinstance(params.get("state"), dict) else None
        self.cancelled = threading.Event()
        self.canceled, self.late, self.answered = False, False, False
        self.task: Optional["asyncio.Task[Any]"] = None
        self._dropped = 0
        self.deadline: Optional[float] = None
        if method == "execute_tool" and "deadline_ms" in params:
            limit = min(params["deadline_ms"], MAX_DEADLINE_MS)
            self.params = {**params, "deadline_ms": limit}
            self.deadline = time.monotonic() + limit / 1000

    def given(self) -> Dict[str, Any]:
        return {
            "deadline_ms": None, **self.params,
            "emit": self.emit, "cancelled": self.cancelled, "log": self.log,
        }  # fmt: skip

    def cancel(self, late: bool = False) -> None:
        """`late`: its time is over; what it returns all the same still counts."""
        self.late = self.late or late
        self.canceled = self.canceled or not late
        self.cancelled.set()
        if self.task is not None:
            self.host.loop.call_soon_threadsafe(self.task.cancel)

    def close(self) -> None:
        if self._dropped:
            note(f"toolplane warn: {self._dropped} parts were dropped: the parent reads too slowly")

    def emit(self, part: Any) -> Room:
        writer, room = self.host.writer, Room(self.host.writer)
        if self.answered:
            return room
        whole = isinstance(part, dict) and set(part) == {"type", "payload"} and part["type"] == "part"
        try:
            line = event_line(self.id, "part", to_json(part["payload"] if whole else part, "the part"))
        except Fault as fault:
            note(f"toolplane warn: a part was dropped: {fault.detail}")
            return room
        if writer.waiting() > MAX_WAITING_PARTS:
            self._dropped += 1
        else:
            writer.write(line)
        if threading.current_thread() is not self.host.loop_thread:
            writer.wait_below(PART_ROOM)
        return room

    def log(self, message: str, level: str = "info", **fields: Any) -> None:
        if self.answered or "log" not in self.host.extensions:
            note(f"toolplane {level}: {message}" + "".join(f" {key}={value!r}" for key, value in fields.items()))
            return
        level = level if level in ("debug", "info", "warn", "error") else "info"
        payload = json.dumps({**fields, "level": level, "message": str(message)}, default=str)
        self.host.writer.write(event_line(self.id, "log", payload))


class Host:
    def __init__(self, plugin: Plugin, output: int, drain_seconds: float):
        self.plugin, self.drain_seconds = plugin, drain_seconds
        self.writer = Writer(output, lambda: os._exit(0))
        self.extensions: Tuple[str, ...] = ()
        self.loop = asyncio.new_event_loop()
        self.loop_thread = threading.Thread(target=self.loop.run_forever, name="toolplane-async", daemon=True)
        self.loop_thread.start()
        self._pool = concurrent.futures.ThreadPoolExecutor(MAX_THREADS, "toolplane-call")
        self._runs: Dict[str, Run] = {}
        self._changed = threading.Condition()
        self._draining = False
        self._timed = threading.Event()
        threading.Thread(target=self._watch_deadlines, name="toolplane-deadlines", daemon=True).start()

    def _watch_deadlines(self) -> None:
        """One thread for all: a timer for each call would cost a thread each."""
        while True:
            self._timed.wait()
            time.sleep(DEADLINE_TICK_SECONDS)
            self._timed.clear()
            with self._changed:
                timed = [run for run in self._runs.values() if run.deadline is not None and not run.late]
            for run in timed:
                if run.deadline is not None and run.deadline <= time.monotonic():
                    run.cancel(late=True)
            if timed:
                self._timed.set()

    def take(self, line: bytes) -> None:
        request_id: Optional[str] = None
        try:
            request_id, method, params = parse_line(line)
            with self._changed:
                if request_id in self._runs:
                    repeated, request_id = request_id, None  # an answer would be taken for the other request's
                    raise Fault("InvalidParams", f"a request with the id {json.dumps(repeated[:100])} is running")
            self._dispatch(request_id, method, params)
        except Fault as fault:
            self.writer.write(failure_line(fault.request_id or request_id, describe(fault)), answer=True)
        except Exception as error:  # noqa: BLE001 - PH1: whatever a line makes the host itself do wrong
            self.writer.write(failure_line(request_id, describe(error)), answer=True)
        self.writer.wait_below(PAUSE_BYTES)

    def refuse(self, fault: Fault) -> None:
        self.writer.write(failure_line(None, describe(fault)), answer=True)

    def _answer(self, request_id: str, value: Any) -> None:
        self.writer.write(success_line(request_id, json.dumps(value)), answer=True)

    def _dispatch(self, request_id: str, method: str, params: Dict[str, Any]) -> None:
        if method in ("hello", "cancel"):
            check_params(method, params, request_id)
        if method == "ping":
            self._answer(request_id, "pong")
        elif method == "hello":
            self.extensions = tuple(name for name in EXTENSIONS if name in params["extensions"])
            self._answer(request_id, {"extensions": list(self.extensions)})
        elif method == "cancel":
            with self._changed:
                run = self._runs.get(params["id"])
            # The answer goes first: the canceled call may be the last one that a shutdown waits for, and then the process ends.
            self._answer(request_id, {"canceled": run is not None})
            if run is not None:
                run.cancel()
        elif method == "shutdown":
            with self._changed:  # here, not in the thread: the next line is read before that has begun
                self._draining = True
            threading.Thread(target=self.end, args=(request_id,), daemon=True).start()
        elif method not in PARAMETERS or not self.plugin.offers(method):
            raise Fault("MethodNotFound", f"unknown method {json.dumps(method[:100])}", request_id)
        else:
            check_params(method, params, request_id)
            self._start(Run(self, request_id, method, params))

    def _start(self, run: Run) -> None:
        with self._changed:
            if self._draining:
                raise Fault("ShuttingDown", "the host is shutting down", run.id)
            if len(self._runs) >= MAX_RUNNING:
                raise Fault("Overloaded", f"{MAX_RUNNING} requests are running", run.id)
            self._runs[run.id] = run
        if run.deadline is not None:
            self._timed.set()
        if self.plugin.is_async(run.method):
            self.loop.call_soon_threadsafe(self._run_async, run, None)
        else:
            try:
                self._pool.submit(self._run_sync, run)
            except RuntimeError as error:  # the system has no thread left
                self._fail(run, error)

    def _run_sync(self, run: Run) -> None:
        try:
            if run.canceled:  # while it waited for a thread
                raise Fault("Canceled", CANCELED)
            returned = self.plugin.call(run.method, run.given())
            if inspect.isawaitable(returned):
                self.loop.call_soon_threadsafe(self._run_async, run, returned)
            else:
                self._succeed(run, returned)
        except BaseException as error:  # noqa: BLE001 - SystemExit too: a tool must not end its host
            self._fail(run, error)

    def _run_async(self, run: Run, awaitable: Any) -> None:
        async def work() -> None:
            try:
                returned = awaitable if awaitable is not None else self.plugin.call(run.method, run.given())
                self._succeed(run, await returned if inspect.isawaitable(returned) else returned)
            except BaseException as error:  # noqa: BLE001
                self._fail(run, error)

        run.task = self.loop.create_task(work())
        if run.cancelled.is_set():
            run.task.cancel()

    def _finish(self, run: Run, line: bytes) -> None:
        with self._changed:
            if run.answered:
                return
            run.answered = True
            self._runs.pop(run.id, None)
            self.writer.write(line, answer=True)
            self._changed.notify_all()
        run.close()

    def _fail(self, run: Run, error: BaseException) -> None:
        if run.canceled:
            error = Fault("Canceled", CANCELED)
        elif run.late:
            error = Fault("DeadlineExceeded", "the call's time is over")
        self._finish(run, failure_line(run.id, describe(error)))

    def _succeed(self, run: Run, returned: Any) -> None:
        if run.canceled:
            raise Fault("Canceled", CANCELED)
        state = run.state
        what = f"the value of {run.method}"
        if run.method == "init":
            returned = state = {} if returned is None else returned
            what = "the state"
        elif run.method == "execute_tool":
            if not isinstance(returned, dict) or not isinstance(returned.get("success"), bool):
                form = '{"success": True, "result": ...} or {"success": False, "error": ...}'
                raise Fault("InvalidResult", f"execute_tool must return {form}")
            state = returned["state"] if returned.get("state") is not None else state
            key = "result" if returned["success"] else "error"
            returned = {"success": returned["success"], key: returned.get(key)}
        if state is not None and not isinstance(state, dict):
            raise Fault("InvalidResult", "the state must be an object")
        value = to_json(returned, what)
        self._finish(run, success_line(run.id, value, None if state is None else to_json(state, "the state")))

    def end(self, shutdown_id: Optional[str] = None) -> None:
        """Finishes what runs, gives the rest up, and ends the process."""
        with self._changed:
            self._draining = True
            self._changed.wait_for(lambda: not self._runs, self.drain_seconds)
            left = list(self._runs.values())
        for run in left:
            run.cancel()
            self._fail(run, Fault("Canceled", "the host is ending"))
        if shutdown_id is not None:
            self._answer(shutdown_id, {})
        self.writer.wait_below(1, FLUSH_SECONDS)
        # Threads of functions that never return would keep the process.
        os._exit(0)


def move_stdio() -> Tuple[int, int]:
    """The protocol gets descriptors of its own; 1 becomes stderr, 0 becomes empty, for this process and its children."""
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    sys.stdin = open(0, closefd=False)
    return source, target


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="toolplane_host.py", description="Runs a Python module as a tool host.")
    parser.add_argument("module", help="a Python file, or the name of a module")
    parser.add_argument("--drain-seconds", type=float, default=DRAIN_SECONDS, help="how long the end may take")
    arguments = parser.parse_args(argv)
    source, target = move_stdio()
    try:
        plugin = find_plugin(load_module(arguments.module), arguments.module)
    except BaseException as error:  # noqa: BLE001 - SystemExit too
        note(f"toolplane_host.py cannot load {arguments.module}: {error}")
        if not isinstance(error, (TypeError, FileNotFoundError)):
            traceback.print_exc()
        return 1
    host = Host(plugin, target, arguments.drain_seconds)
    read_lines(source, host.take, host.refuse)
    host.end()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
