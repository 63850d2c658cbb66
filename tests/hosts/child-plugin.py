"""The same plugin as child-plugin.ts."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading


class ShopClosed(Exception):
    pass


arrivals = {}
arrived = threading.Condition()


def meet(name, party):
    with arrived:
        arrivals[name] = arrivals.get(name, 0) + 1
        arrived.notify_all()
        arrived.wait_for(lambda: arrivals[name] >= party)


class ChildPlugin:
    def init(self, config):
        if config.get("broken"):
            raise ShopClosed("no such shop")
        return {"count": 0, **config}

    def get_tool_schemas(self, state):
        state["asked"] = True
        return [
            {"name": "echo", "description": "Gives back what it got", "parameters": {"type": "object"}},
            {"type": "function", "function": {"name": "count", "parameters": {"type": "object"}}},
        ]

    def execute_tool(self, tool_name, arguments, state, emit, cancelled, deadline_ms, log):
        tool = getattr(self, f"tool_{tool_name}", None)
        if tool is None:
            return {"success": False, "error": f"there is no tool {tool_name}"}
        return tool(arguments, state, emit, cancelled, deadline_ms, log)

    def tool_echo(self, arguments, *_):
        return {"success": True, "result": arguments}

    def tool_nothing(self, *_):
        return {"success": True}

    def tool_refuse(self, *_):
        return {"success": False, "error": "sold out"}

    def tool_throw(self, *_):
        raise ShopClosed("we are closed")

    def tool_bad_shape(self, *_):
        return {"words": 3}

    def tool_not_json(self, *_):
        return {"success": True, "result": {"list": [1, {"of": {1}}]}}

    def tool_not_a_number(self, *_):
        return {"success": True, "result": [float("nan")]}

    def tool_bad_state(self, arguments, state, *_):
        state["kept"] = {1}
        return {"success": True}

    def tool_count(self, arguments, state, *_):
        state["count"] = state.get("count", 0) + 1
        return {"success": True, "result": state["count"]}

    def tool_replace(self, *_):
        return {"success": True, "result": 1, "state": {"fresh": True}}

    async def tool_later(self, arguments, *_):
        await asyncio.sleep(0)
        return {"success": True, "result": arguments}

    async def tool_parts(self, arguments, state, emit, *_):
        for part in range(arguments["count"]):
            await emit({"part": part})
        emit({"type": "part", "payload": "whole event"})
        return {"success": True, "result": "done"}

    def tool_bad_part(self, arguments, state, emit, *_):
        emit({1})
        emit("good")
        return {"success": True}

    def tool_print(self, *_):
        print("stray console")
        sys.__stdout__.write("stray stream\n")
        sys.__stdout__.flush()
        os.write(1, b"stray descriptor\n")
        subprocess.run(["echo", "stray child"], check=True)
        return {"success": True, "result": "printed"}

    def tool_log(self, arguments, state, emit, cancelled, deadline_ms, log):
        log("looked", at="shelf")
        return {"success": True}

    def tool_exit(self, *_):
        sys.exit(3)

    async def tool_fall(self, *_):
        raise ShopClosed("fell in a timer")

    def tool_meet(self, arguments, state, emit, *_):
        if "says" in arguments:
            emit(arguments["says"])
        meet(arguments["name"], arguments["party"])
        return {"success": True, "result": arguments["party"]}

    def tool_until_aborted(self, arguments, state, emit, cancelled, *_):
        cancelled.wait()
        return {"success": True, "result": "too late to count"}

    async def tool_until_aborted_async(self, *_):
        await asyncio.Event().wait()

    def tool_deadline(self, arguments, state, emit, cancelled, deadline_ms, log):
        cancelled.wait()
        raise ShopClosed(f"after {deadline_ms}")

    def tool_memory(self, *_):
        unit = 1 if sys.platform == "darwin" else 1024
        return {"success": True, "result": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}

    def tool_big(self, arguments, state, emit, cancelled, deadline_ms, log):
        result = "x" * arguments["bytes"]
        log("made")
        return {"success": True, "result": result}

    def tool_flood(self, arguments, state, emit, *_):
        for _part in range(arguments["count"]):
            emit("y" * arguments["bytes"])
        return {"success": True, "result": "flooded"}

    def get_config_schema(self):
        return {"type": "object", "properties": {"broken": {"type": "boolean"}}}

    def get_ui_elements(self):
        return [{"id": "shelf"}]

    def get_tags(self, config, models):
        return ["shop", *config, f"models:{len(models)}"]

    def required_tags(self):
        return ["tools"]

    def format_tool_result(self, result, state):
        state["formatted"] = True
        if result == "native":
            return {"type": "provider_native_tool_result", "format": "openai.responses", "output": []}
        return f"result: {json.dumps(result, separators=(',', ':'))}"

    def format_tool_call_preview(self, tool_name, arguments):
        return f"{tool_name} with {', '.join(arguments)}"

    def to_display_format(self, text, result):
        return {"title": text, "body": result}
