"""A tool service in Python. Run it with the file hosts/python/toolplane.py on the path:

    PYTHONPATH=hosts/python python3 examples/python-tool/text_tools.py
"""

from typing import Annotated, List

import toolplane


@toolplane.tool(retry="safe")
def longest_words(
    text: Annotated[str, "What to look through"],
    count: Annotated[int, "How many words to give back"] = 3,
) -> List[str]:
    """Find the longest words of a text."""
    if count < 1:
        raise toolplane.ToolError("bad_request", "count must be 1 or more")
    words = {word.strip(".,;:!?\"'()").lower() for word in text.split()}
    return sorted(words, key=lambda word: (-len(word), word))[:count]


@toolplane.tool(timeout_seconds=120)
def send_letter(to: str, text: str, ctx: toolplane.Context) -> dict:
    """Pretend to send a letter. It is not safe to run twice, so after a crash its outcome is unknown."""
    for page in range(3):
        ctx.check()  # raises when the call was canceled or is out of time
        ctx.emit({"page": page + 1, "of": 3})
        ctx.cancelled.wait(0.1)
    # A tool that really sends passes this key on, so that the other side notices a second attempt.
    return {"to": to, "pages": 3, "letter_id": ctx.idempotency_key}


if __name__ == "__main__":
    toolplane.serve([longest_words, send_letter], target="python")
