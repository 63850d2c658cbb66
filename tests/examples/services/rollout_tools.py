"""One version of a tool, for tests of a rollout: says which version ran a call, and writes it down."""

import os

import toolplane

VERSION = os.environ["VERSION"]


@toolplane.tool(description=f"Says its version, which is {VERSION}", retry="safe", options={"pin": "strict"})
def which(made: str) -> str:
    with open(os.environ["RUNS"], "a", encoding="utf-8") as runs:
        runs.write(f"{made} {VERSION}\n")
    return VERSION


if __name__ == "__main__":
    toolplane.serve([which], target="rollout", concurrency=8, claim_seconds=1)
