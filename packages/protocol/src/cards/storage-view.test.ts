import { describe, expect, test } from "vitest";
import { parseCard } from "./card.ts";
import { distinctIds, orderAsRequested } from "./card-order.ts";
import { foldCard, unfoldCard } from "./storage-view.ts";

const card = parseCard({
  card_id: "c1",
  project_id: "demo",
  type: "agent.thought",
  content: { __type__: "TextContent", text: "hm" },
  created_at: "2026-01-02T03:04:05.000Z",
  author_id: "helper",
  metadata: { role: "assistant", step_id: "step_1" },
  tool_calls: [{ id: "x" }],
  ttl_seconds: 60,
});
const now = "2030-01-01T00:00:00.000Z";
const row = { card_id: "c1", content: card.content };

describe("storage view", () => {
  test("[UTP-4.1-C10] domain fields are folded into metadata and come back", () => {
    const stored = foldCard(card);
    expect(stored.metadata).toEqual({
      role: "assistant",
      step_id: "step_1",
      project_id: "demo",
      type: "agent.thought",
      author_id: "helper",
      created_at: "2026-01-02T03:04:05.000Z",
    });
    expect(stored).toMatchObject({ tenant_id: "demo", expires_at: "2026-01-02T03:05:05.000Z", deleted_at: null });
    expect(unfoldCard(stored, "demo", now)).toEqual(card);
  });

  test("[UTP-4.1-C11] folded fields win over metadata keys of the same name", () => {
    const disguised = { ...card, metadata: { type: "tool.result", author_id: "sys.pmo", project_id: "other" } };
    expect(foldCard(disguised).metadata).toMatchObject({
      type: "agent.thought",
      author_id: "helper",
      project_id: "demo",
    });
  });

  test("a card that is to live longer than a date can say does not expire", () => {
    for (const ttl_seconds of [Number.MAX_SAFE_INTEGER, 8_640_000_000_000]) {
      expect(foldCard(parseCard({ ...card, ttl_seconds })).expires_at).toBeNull();
    }
    expect(foldCard({ ...card, ttl_seconds: null }).expires_at).toBeNull();
  });

  const loads: readonly [string, unknown, string, string, string][] = [
    [
      "the names of an older store",
      { semantic_type: "old.note", producer: { id: "p1" }, timestamp: "2020-01-01T00:00:00Z" },
      "old.note",
      "p1",
      "2020-01-01T00:00:00Z",
    ],
    ["nothing at all", {}, "unknown", "unknown", now],
    ["metadata that is no object", "x", "unknown", "unknown", now],
  ];
  test.each(loads)("[UTP-4.1-C12] loading falls back: %s", (_name, metadata, type, author, createdAt) => {
    const loaded = unfoldCard({ ...row, metadata }, "demo", now);
    expect([loaded.type, loaded.author_id, loaded.created_at]).toEqual([type, author, createdAt]);
  });

  test("[UTP-4.1-C13] the project is the one that asked, whatever the row says", () => {
    expect(unfoldCard({ ...row, metadata: { project_id: "other" } }, "demo", now).project_id).toBe("demo");
  });

  test("a card without a lifetime does not expire", () => {
    expect(foldCard({ ...card, ttl_seconds: null }).expires_at).toBeNull();
  });
});

describe("batch reads", () => {
  const cards = [{ card_id: "a" }, { card_id: "b" }];
  test("[UTP-4.5-C1] the answer follows the input, duplicates included, unknown and blank ids skipped", () => {
    const ids = ["b", "zz", null, "a", "", "b", undefined];
    expect(orderAsRequested(ids, cards).map((found) => found.card_id)).toEqual(["b", "a", "b"]);
  });
  test("[UTP-4.5-C2] the store is asked for each id once", () => {
    expect(distinctIds(["b", null, "a", "b", "", undefined])).toEqual(["b", "a"]);
  });
});
