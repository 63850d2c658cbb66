"""Tools that fail, each in its own way. As a program this is a service; loaded by toolplane_host.py it is a host."""

import os
import signal
import sys
import time
import urllib.request


def throws():
    return {}["missing"]


def no_error():
    sys.exit(3)


def rejects():
    try:
        raise OSError("no key")
    except OSError as error:
        raise RuntimeError("the vault is closed") from error


def too_slow():
    time.sleep(60)


def bad_result():
    return {"total": object()}


def missing_file():
    with open("/nope/settings.json", encoding="utf8") as file:
        return file.read()


def refused():
    with urllib.request.urlopen("http://127.0.0.1:3/") as answer:
        return answer.read().decode()


def asserts():
    assert 1 == 2, "one is not two"


def hungry():
    # What the kernel does to a process that took too much memory.
    os.kill(os.getpid(), signal.SIGKILL)


def typed(n: int):
    return {"n": n}


def waits():
    time.sleep(60)


WAYS = [throws, no_error, rejects, too_slow, bad_result, missing_file, refused, asserts, hungry, typed, waits]
OPTIONS = {"too_slow": {"timeout_seconds": 1}}


def get_tool_schemas(state):
    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    nothing = {"type": "object", "properties": {}}
    return [
        {"name": way.__name__, "description": f"fails: {way.__name__}", "parameters": number if way is typed else nothing}
        for way in WAYS
    ]


def init(config):
    return None


def execute_tool(tool_name, arguments, state):
    way = next(way for way in WAYS if way.__name__ == tool_name)
    return {"success": True, "result": way(**arguments)}


if __name__ == "__main__":
    import toolplane

    tools = [
        toolplane.tool(name=f"py_{way.__name__}", description=f"fails: {way.__name__}", **OPTIONS.get(way.__name__, {}))(way)
        for way in WAYS
    ]
    toolplane.serve(tools, target="py")
