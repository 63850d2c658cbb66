"""Tools that behave in every way a tool may; what they did is left as files in the directory MARKS."""

import base64
import json
import os
import signal
import sys
import threading
import time
import urllib.parse
from typing import Annotated, Any, Dict, List, Literal, Optional, TypedDict, Union

import toolplane


def mark(name: str) -> None:
    with open(os.path.join(os.environ["MARKS"], f"{name}-{os.getpid()}-{time.monotonic_ns()}"), "w"):
        pass


@toolplane.tool
def give(value: Any = None) -> Any:
    return value


@toolplane.tool(description="Nothing JSON can say")
def unspeakable(kind: Literal["nan", "object", "cycle", "bytes"]) -> Any:
    cycle: List[Any] = []
    cycle.append(cycle)
    return {"nan": float("nan"), "object": object(), "cycle": cycle, "bytes": b"x"}[kind]


@toolplane.tool
def large(size: int) -> str:
    return "x" * size


@toolplane.tool
def throw(kind: str) -> None:
    mark("throw")
    if kind == "exit":
        sys.exit("bye")
    if kind == "code":
        sys.exit(3)
    if kind == "base":
        raise BaseException("it broke")
    if kind == "tool":
        raise toolplane.ToolError("own_code", "said no", detail={"field": 1}, retryable=False)
    raise {"value": ValueError, "key": KeyError, "os": ConnectionError, "other": RuntimeError}[kind]("it broke")


@toolplane.tool
def take_signal() -> str:
    """The system gives SIGTERM to the thread of a call."""
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    return "taken"


@toolplane.tool(retry="safe")
def flaky(failures: int, ctx: toolplane.Context) -> int:
    if ctx.attempt <= failures:
        raise toolplane.ToolError("rate_limited", "not now")
    return ctx.attempt


@toolplane.tool(retry="safe", options={"retry_policy": {"attempts": 3, "backoff_seconds": 0}})
def governed(failures: int, ctx: toolplane.Context, pause: float = 0) -> int:
    mark(f"governed-{ctx.tool_call_id}")
    if ctx.attempt <= failures:
        raise toolplane.ToolError("sold_out", "not now", detail={"retry_after_seconds": pause}, retryable=True)
    return ctx.attempt


@toolplane.tool(retry="safe", options={"rate": {"limit": 1000, "per_seconds": 1}})
def rated(ctx: toolplane.Context) -> None:
    mark(f"rated-{ctx.tool_call_id}")
    raise toolplane.ToolError("rate_limited", "not now")


def pass_time(name: str, seconds: float, ctx: toolplane.Context) -> int:
    mark(f"{name}-started")
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            ctx.check()
            ctx.cancelled.wait(0.02)
    except toolplane.Cancelled:
        mark(f"{name}-cancelled")
        raise
    mark(f"{name}-finished")
    return os.getpid()


@toolplane.tool(retry="safe", timeout_seconds=120)
def wait_safe(seconds: float, ctx: toolplane.Context, name: str = "safe") -> int:
    return pass_time(name, seconds, ctx)


@toolplane.tool(timeout_seconds=120)
def wait_unsafe(seconds: float, ctx: toolplane.Context, name: str = "unsafe") -> int:
    return pass_time(name, seconds, ctx)


@toolplane.tool(timeout_seconds=1)
def deaf(seconds: float, ctx: toolplane.Context) -> str:
    time.sleep(seconds)
    mark(f"deaf-{'told' if ctx.cancelled.is_set() else 'untold'}")
    return "too late"


@toolplane.tool
def who(ctx: toolplane.Context) -> Dict[str, Any]:
    ctx.emit({"hello": True})
    return {"key": ctx.idempotency_key, "call": ctx.tool_call_id, "agent": ctx.agent_id, "left": ctx.remaining()}


@toolplane.tool
async def later(text: str) -> str:
    return text


@toolplane.tool(description=f"leaks {os.environ.get('CANARY', '')}", secrets=["CANARY"])
def leak(how: str, ctx: toolplane.Context) -> Any:
    token, canary = os.environ["TOOLPLANE_TOKEN"], ctx.secrets["CANARY"]
    said = f"{token} {canary}"
    ctx.emit({"part": said, canary: 1})
    if how == "raise":
        raise RuntimeError(said)
    if how == "say no":
        raise toolplane.ToolError("own_code", said, detail={canary: [token]})
    encoded = base64.b64encode(f"user:{canary}".encode()).decode()
    return {
        "plain": said, "base64": encoded, "hex": canary.encode().hex(), "url": urllib.parse.quote(canary, safe=""),
        "json": json.dumps({"inner": canary}), canary: [token],
    }


class Point(TypedDict):
    x: float
    y: float


@toolplane.tool(name="typed-tool")
def typed(
    text: Annotated[str, "What to say"],
    flag: bool,
    numbers: List[int],
    points: List[Point],
    table: Dict[str, float],
    anything: list,
    either: Union[int, str, None] = None,
    maybe: Optional[float] = None,
    word: Literal["a", "b"] = "a",
) -> None:
    "Takes every kind of argument."


TOOLS = [give, unspeakable, large, throw, take_signal, flaky, governed, rated, wait_safe, wait_unsafe, deaf, who, later, leak, typed]

if __name__ == "__main__":
    toolplane.serve(
        TOOLS,
        target="odd",
        concurrency=4,
        claim_seconds=float(os.environ.get("CLAIM", "0.5")),
        drain_seconds=float(os.environ.get("DRAIN", "30")),
    )
