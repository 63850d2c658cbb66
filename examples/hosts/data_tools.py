"""A data tool in Python: statistics of a table given as CSV. The three functions are all a host needs.

    python3 hosts/python/toolplane_host.py examples/hosts/data_tools.py
"""

import csv
import io
import statistics

TOOLS = [
    {
        "name": "describe_column",
        "description": "Count, mean, median, least and greatest of a column of numbers in a CSV text",
        "parameters": {
            "type": "object",
            "properties": {"csv": {"type": "string"}, "column": {"type": "string"}},
            "required": ["csv", "column"],
            "additionalProperties": False,
        },
    }
]


def get_config_schema():
    return {
        "type": "object",
        "properties": {"delimiter": {"type": "string", "minLength": 1, "maxLength": 1}},
        "additionalProperties": False,
    }


def init(config):
    return {"delimiter": config.get("delimiter", ",")}


def get_tool_schemas(state):
    return TOOLS


def execute_tool(tool_name, arguments, state):
    if tool_name != "describe_column":
        return {"success": False, "error": f"there is no tool {tool_name}"}
    rows = list(csv.DictReader(io.StringIO(arguments["csv"]), delimiter=state["delimiter"]))
    column = arguments["column"]
    if not rows or column not in rows[0]:
        return {"success": False, "error": f"there is no column {column}"}
    try:
        numbers = [float(row[column]) for row in rows]
    except (TypeError, ValueError):
        return {"success": False, "error": f"column {column} has something that is not a number"}
    return {
        "success": True,
        "result": {
            "count": len(numbers),
            "mean": round(statistics.fmean(numbers), 6),
            "median": statistics.median(numbers),
            "least": min(numbers),
            "greatest": max(numbers),
        },
    }


def format_tool_result(result):
    """What the model reads: one sentence instead of JSON."""
    found = result.get("result", result)
    if not isinstance(found, dict) or "count" not in found:
        return str(result.get("error", found))
    return f"{found['count']} numbers from {found['least']:g} to {found['greatest']:g}, mean {found['mean']:g}, median {found['median']:g}"
