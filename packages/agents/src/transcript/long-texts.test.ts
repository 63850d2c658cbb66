import type { Card } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { rememberLongTexts } from "./long-texts.ts";
import { showResult } from "./show-result.ts";

const cardOf = (cardId: string, result: () => unknown, project = "p"): Card =>
  ({
    card_id: cardId,
    project_id: project,
    type: "tool.result",
    author_id: "tool.text",
    tool_calls: null,
    tool_call_id: "call_1",
    metadata: { function_name: "text" },
    content: {
      __type__: "ToolResultContent",
      status: "success",
      after_execution: "suspend",
      error: null,
      get result() {
        return result();
      },
    },
  }) as unknown as Card;

const options = { agentId: "ann", limit: 1_000, trust: { trust: "local" } as never, canReadMore: true };

test("[STALL-9] a long result that was shown is not read again at the next step; that of another project is", () => {
  let reads = 0;
  const long = () => {
    reads++;
    return "x".repeat(100_000);
  };
  const shown = showResult(cardOf("long", long), options);
  const first = reads;
  expect(shown).toContain("The result has 100000 characters");
  expect(showResult(cardOf("long", long), options)).toBe(shown);
  expect(reads).toBe(first);
  showResult(cardOf("long", long, "q"), options);
  expect(reads).toBeGreaterThan(first);
  const second = reads;
  const longer = showResult(cardOf("long", long), { ...options, limit: 2_000 });
  expect(reads).toBe(second);
  const fresh = showResult(cardOf("fresh", long), { ...options, limit: 2_000 });
  expect(longer.replaceAll("long", "fresh")).toBe(fresh.replaceAll("long", "fresh"));
});

test("[STALL-9] long results are read with turns for other work between them, and a transcript reads none of them again", async () => {
  const turns: string[] = [];
  const cards = ["one", "two", "three"].map((name) =>
    cardOf(name, () => {
      turns.push(name);
      return "x".repeat(100_000);
    }),
  );
  const reading = rememberLongTexts([...cards, cardOf("small", () => "short")]);
  // Only the first was read in one piece with the call.
  setImmediate(() => turns.push("other"));
  await reading;
  expect(turns).toContain("other");
  expect(turns.indexOf("other")).toBeLessThan(turns.lastIndexOf("three"));
  const before = turns.length;
  for (const card of cards) showResult(card, options);
  expect(turns).toHaveLength(before);
});

test("a short result is made again each time", () => {
  let reads = 0;
  const short = () => {
    reads++;
    return "short";
  };
  showResult(cardOf("short", short), options);
  const first = reads;
  showResult(cardOf("short", short), options);
  expect(reads).toBe(2 * first);
});
