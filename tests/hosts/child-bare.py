"""The least a plugin can be."""


def get_tool_schemas(anything):
    return []


def execute_tool(tool_name):
    return {"success": True, "result": tool_name}
