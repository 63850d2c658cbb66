import { expect, test } from "vitest";
import { agentWords, planNames } from "./agent-words.ts";

const NAMES = new Map([
  ["helper", ""],
  ["0199-child-of-a-long-task", "reader 2"],
]);

test("agents that are not known are asked for, each once, at most a screen of them; the plane's own never", () => {
  expect(planNames(["helper", "a", "sys.operator.x", "a", "", "0199-child-of-a-long-task"], NAMES)).toEqual(["a"]);
  expect(
    planNames(
      Array.from({ length: 90 }, (_, at) => `a${at}`),
      NAMES,
    ),
  ).toHaveLength(30);
});

test("an agent is called by its display name, else by a short part of its id", () => {
  expect(agentWords("0199-child-of-a-long-task", NAMES)).toBe("reader 2");
  expect(agentWords("helper", NAMES)).toBe("helper");
  expect(agentWords("0199aaaa-bbbb-cccc-dddd-eeeeffff0000", NAMES)).toBe("agent 0000");
  expect(agentWords("0199aaaa-bbbb-7ccc-dddd-eeeeffff0000_01aa-6b8b", NAMES)).toBe("agent 6b8b");
  expect(agentWords("the-agent-of-the-accounting-team", NAMES)).toBe("the-agent-of-the-acc");
  expect(agentWords("sys.operator.of-a-long-name", NAMES)).toBe("sys.operator.of-a-long-name");
  expect(agentWords("sys.api", NAMES)).toBe("the API");
  expect(agentWords("sys.token_0199aaaa", NAMES)).toBe("a token");
});
