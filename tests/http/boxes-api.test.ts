// Many boxes at once over HTTP: a box that is shown in part says so, and without a limit it is shown whole. Arguments that
// a definition filled in are named on the call's card.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
let boxId: string;
let small: string;
const LONG = 230;

beforeAll(async () => {
  http = await startHttpStack();
  const { boxes } = http.t.engine;
  boxId = await boxes.createBox(
    "demo",
    Array.from({ length: LONG }, (_, index) => `card-${index}`),
  );
  small = await boxes.createBox("demo", ["a", "b"]);
});
afterAll(() => http[Symbol.asyncDispose]());

interface Batch {
  readonly boxes: readonly Readonly<Record<string, unknown>>[];
  readonly missing_card_ids: readonly string[];
}

const batch = async (body: object): Promise<Batch> =>
  (await http.send("POST", "/projects/demo/boxes/batch", body)).body as unknown as Batch;

describe("boxes/batch", () => {
  test("[UTP-13.2-D1] without a limit every card id comes, and nothing is called cut", async () => {
    const body = await batch({ box_ids: [boxId, small] });
    expect(body.boxes[0]?.card_ids).toHaveLength(LONG);
    expect(body.boxes[0]).toMatchObject({ card_count: LONG, truncated: false });
    expect(body.boxes[1]).toEqual({ box_id: small, card_ids: ["a", "b"], card_count: 2, truncated: false });
  });

  test("[UTP-13.2-D1] with a limit the newest come, and the box says that it was cut", async () => {
    const body = await batch({ box_ids: [boxId, small], limit: 3 });
    expect(body.boxes[0]).toEqual({
      box_id: boxId,
      card_ids: ["card-227", "card-228", "card-229"],
      card_count: LONG,
      truncated: true,
    });
    expect(body.boxes[1]).toMatchObject({ truncated: false });
  });

  test("[UTP-13.2-D1] hydrated cards are the newest 200 unless said otherwise, and the ids are still whole", async () => {
    const body = await batch({ box_ids: [boxId], hydrate: true });
    expect(body.boxes[0]?.card_ids).toHaveLength(LONG);
    expect(body.boxes[0]).toMatchObject({ card_count: LONG, truncated: true, hydrated_cards: [] });
    expect(body.missing_card_ids).toHaveLength(200);
  });
});

test("the cards of a box come in pages, from the newest back to the first", async () => {
  const made = await Promise.all(
    Array.from({ length: 3 }, () => http.send("POST", "/projects/demo/calls", { tool_name: "safe" })),
  );
  const ids = made.map(({ body }) => body.tool_call_card_id);
  const box = await http.t.engine.boxes.createBox("demo", [...ids, ids[0] ?? ""]);
  const seen: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor === "" ? "limit=3" : `limit=3&cursor=${cursor}`;
    const answer: Response = await http.raw(`/projects/demo/boxes/${box}/cards?${query}`, {
      headers: { authorization: `Bearer ${http.admin}` },
    });
    seen.push(((await answer.json()) as readonly { readonly card_id: string }[]).map(({ card_id }) => card_id));
    expect(seen.length).toBeLessThan(4);
    cursor = answer.headers.get("toolplane-next-cursor");
  }
  expect(seen).toEqual([[ids[1], ids[2], ids[0]], [ids[0]]]);
  const many = await Promise.all(
    Array.from({ length: 130 }, () => http.send("POST", "/projects/demo/calls", { tool_name: "safe" })),
  );
  const long = await http.t.engine.boxes.createBox(
    "demo",
    many.map(({ body }) => body.tool_call_card_id),
  );
  const { status, body } = await http.send("GET", `/projects/demo/boxes/${long}/cards`);
  expect([status, (body as unknown as readonly unknown[]).length]).toEqual([200, 130]);
});

describe("tool_args_defaults_applied", () => {
  const applied = async (argumentsGiven: object): Promise<Record<string, unknown>> => {
    const { body } = await http.send("POST", "/projects/demo/calls", {
      tool_name: "filled",
      arguments: argumentsGiven,
    });
    const card = await http.send(
      "GET",
      `/projects/demo/cards/${(body as unknown as { tool_call_card_id: string }).tool_call_card_id}`,
    );
    return (card.body as unknown as { metadata: Record<string, unknown> }).metadata;
  };

  test("[UTP-5.3-D1] a default that a fixed value replaces was not applied", async () => {
    await http.send("POST", "/projects/demo/tools", {
      tool_name: "filled",
      description: "has defaults",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.filled",
      after_execution: "suspend",
      parameters: { type: "object" },
      options: { args: { defaults: { b: 1, a: 2, both: 3 }, fixed: { both: 4 } } },
    });
    expect(await applied({})).toMatchObject({
      tool_args_defaults_applied: ["a", "b"],
      tool_args_fixed_applied: ["both"],
    });
    expect(await applied({ a: null })).toMatchObject({ tool_args_defaults_applied: ["b"] });
    expect(await applied({ a: 1, b: 1 })).not.toHaveProperty("tool_args_defaults_applied");
  });
});
