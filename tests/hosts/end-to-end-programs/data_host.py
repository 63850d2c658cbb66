"""A Python host for the tests: the same protocol from another language."""

import time


def init(config):
    return {"seen": []}


def get_tool_schemas(state):
    return [
        {"name": "remember", "description": "Remember a word", "parameters": {"type": "object", "properties": {"word": {"type": "string"}}}},
        {"name": "slow", "description": "Wait a moment", "parameters": {"type": "object", "properties": {}}},
        {"name": "stream", "description": "Stream a few parts", "parameters": {"type": "object", "properties": {}}},
    ]


def execute_tool(tool_name, arguments, state, emit):
    if tool_name == "remember":
        state["seen"].append(arguments.get("word", "?"))
        return {"success": True, "result": {"seen": state["seen"]}}
    if tool_name == "stream":
        for n in range(3):
            emit({"n": n})
        return {"success": True, "result": "streamed"}
    if tool_name != "slow":
        return {"success": False, "error": "there is no tool " + tool_name}
    time.sleep(float(arguments.get("ms", 50)) / 1000)
    return {"success": True, "result": {"slept": True}}
