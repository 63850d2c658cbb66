"""A program that calls tools. TOOLPLANE_URL, TOOLPLANE_TOKEN and TOOLPLANE_PROJECT say where.

    PYTHONPATH=hosts/python python3 examples/callers/call_tools.py
"""

from toolplane import ToolplaneError, connect

plane = connect()
print(plane.call("word_count", {"text": "to be or not to be"}, key="hamlet")["total"], "words")

texts = ["one", "one two", "one two three"]
for index, result in plane.call_many([("word_count", {"text": text}) for text in texts]):
    print(index, result["total"])

try:
    plane.call("fail", {"code": "tool_error", "message": "not today"})
except ToolplaneError as error:
    print(error.code, error.message, error.retryable, error.call_id is not None)
