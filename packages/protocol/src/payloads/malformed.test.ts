// Ten thousand malformed messages per reader: whatever a stranger sends, the only thing thrown is a ToolplaneError.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Card, parseCard, parseWritableCard } from "../cards/card.ts";
import { parseCardDto } from "../cards/card-dto.ts";
import { createToolResultCard } from "../cards/tool-cards.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { parseHostLine } from "../host/host-message.ts";
import { parseHostParams } from "../host/host-methods.ts";
import { readHostTools } from "../host/tool-schemas.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { planReportCheck } from "../results/report-check.ts";
import { parseTaskEvent } from "./agent-events.ts";
import { parseCallbackPayload } from "./callback.ts";
import { parseCommandPayload } from "./command.ts";

const RUNS = 10_000;

const card = createToolResultCard({
  cardId: "r1",
  projectId: "demo",
  createdAt: "2026-01-02T03:04:05.000Z",
  authorId: "tool.text",
  agentTurnId: "turn_1",
  toolCallId: "tc_1",
  functionName: "count",
  content: {
    __type__: "ToolResultContent",
    status: "success",
    after_execution: "suspend",
    result: { a: [1] },
    error: null,
  },
});
const command = { tool_call_card_id: "c", tool_name: "t", after_execution: "suspend" };
const callback = { status: "success", after_execution: "suspend", tool_result_card_id: "r1" };
const event = { agent_turn_id: "t", status: "success", output_box_id: "b", error: "e" };
const line = {
  v: 1,
  id: "1",
  method: "execute_tool",
  params: { tool_name: "t", arguments: {}, state: {} },
  ok: true,
  result: { value: 1, state: {} },
  event: { type: "part" },
};

/** A good message with one place broken: a value replaced, a key removed, or a stray key added; sometimes just anything. */
const broken = (good: object): fc.Arbitrary<unknown> => {
  const keys = Object.keys(good);
  const stray = fc.constantFrom("meta", "result", "agent_id", "__proto__", "constructor", "toString", "x");
  const odd = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true });
  return fc.oneof(
    odd,
    fc.tuple(fc.constantFrom(...keys), odd).map(([key, value]) => ({ ...good, [key]: value })),
    fc.constantFrom(...keys).map((key) => Object.fromEntries(Object.entries(good).filter(([name]) => name !== key))),
    fc.tuple(stray, odd).map(([key, value]) => Object.fromEntries([...Object.entries(good), [key, value]])),
    fc
      .tuple(fc.constantFrom(...keys), stray, odd)
      .map(([key, inner, value]) => ({ ...good, [key]: { ...(good as Record<string, object>)[key], [inner]: value } })),
  );
};

const brokenLine: fc.Arbitrary<string> = fc.oneof(
  fc.string(),
  fc.json(),
  broken(line).map((value) => {
    try {
      return JSON.stringify(value) ?? "";
    } catch {
      return "{";
    }
  }),
  fc.tuple(fc.nat(200), fc.nat(20)).map(([at, length]) => {
    const text = JSON.stringify(line);
    return text.slice(0, at) + text.slice(at + length);
  }),
);

const onlyOurs = (run: () => unknown): void => {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ToolplaneError);
  }
};

const readers: readonly [string, object, readonly ((input: unknown) => unknown)[]][] = [
  ["cards", card, [parseCard, parseWritableCard, parseCardDto]],
  [
    "commands",
    command,
    [(input) => parseCommandPayload(input), (input) => parseCommandPayload(input, { route: "internal", strict: true })],
  ],
  ["callbacks", callback, [(input) => parseCallbackPayload(input)]],
  ["events", event, [parseTaskEvent]],
];

/** The store's answer to a pointer: a card, or none that can be read. */
const tryCard = (found: unknown): Card | undefined => {
  try {
    return parseCard(found);
  } catch {
    return undefined;
  }
};

describe("malformed input", () => {
  test.each(readers)("[SEC-4-C13] %s", (_name, good, parsers) => {
    fc.assert(
      fc.property(broken(good), (input) => {
        for (const parse of parsers) onlyOurs(() => parse(input));
      }),
      { numRuns: RUNS },
    );
  });

  test("[SEC-9-C2] host lines", () => {
    fc.assert(
      fc.property(brokenLine, (text) => {
        onlyOurs(() => {
          const message = parseHostLine(text);
          if (message.kind === "request") parseHostParams("execute_tool", message.params, message.id);
        });
      }),
      { numRuns: RUNS },
    );
  });

  test("[SEC-3-C14] reports and the cards they point at: nothing is thrown at all", () => {
    const call = {
      projectId: "demo",
      subject: "cg.v1r4.demo.public.cmd.tool.text.count",
      agentId: "helper",
      agentTurnId: "turn_1",
      turnEpoch: 1,
      stepId: "step_1",
      recursionDepth: 0,
      headers: {},
      traceId: "a".repeat(32),
      toolCallId: "tc_1",
      toolName: "count",
      actors: ["tool.text"],
      afterExecution: "suspend",
      lineage: {},
    } as const;
    const report = { toolCallId: "tc_1", sourceActor: "tool.text", sourceProjectId: "demo" };
    fc.assert(
      fc.property(broken(callback), broken(card), (payload, found) => {
        planReportCheck({ ...report, payload }, tryCard(found), call);
      }),
      { numRuns: RUNS },
    );
  });

  test("tool lists of hosts", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { tools } = readHostTools([value as JsonValue, { name: "good" }]);
        expect(tools.some((tool) => tool.name === "good")).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

test("a good message of each kind is read, so that the tests above break something", () => {
  expect(parseWritableCard(card)).toEqual(card);
  expect(parseCommandPayload(command)).toEqual(command);
  expect(parseCallbackPayload(callback)).toEqual(callback);
  expect(parseTaskEvent(event)).toMatchObject({ agent_turn_id: "t" });
  expect(parseHostParams("execute_tool", line.params as JsonObject, "1")).toEqual(line.params);
});
