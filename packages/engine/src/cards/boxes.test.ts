import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";
import { sampleCard } from "../../test/sample-cards.ts";

let world: RegistryWorld;
const A = "proj_a";
const B = "proj_b";
const NOBODY = "01890000-0000-7000-8000-000000000000";

beforeAll(async () => {
  world = await openRegistryWorld();
  for (const project of [A, B])
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
});
afterAll(() => world[Symbol.asyncDispose]());

describe("one box", () => {
  test("[UTP-4.6-E1] [UTP-4.6-C1] create keeps order, duplicates and parents, and mints a UUIDv7", async () => {
    const parent = await world.boxes.createBox(A, []);
    const box = await world.boxes.createBox(A, ["b", "a", "b"], { parentIds: [parent] });
    expect(box).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await world.boxes.loadBox(A, box)).toEqual({
      boxId: box,
      parentIds: [parent],
      length: 3,
      cardIds: ["b", "a", "b"],
    });
  });

  test("[UTP-4.6-E6] a missing box loads as nothing, and so does another project's", async () => {
    const theirs = await world.boxes.createBox(B, ["x"]);
    expect(await world.boxes.loadBox(A, NOBODY)).toBeUndefined();
    expect(await world.boxes.loadBox(A, theirs)).toBeUndefined();
    expect(await world.boxes.loadBoxCards(A, theirs)).toBeUndefined();
  });

  test("ids the database cannot hold, and too many at once, are refused", async () => {
    for (const ids of [[""], ["a\u0000"], ["\ud800"], Array.from({ length: 10_001 }, () => "a")])
      await expect(world.boxes.createBox(A, ids)).rejects.toMatchObject({ code: "bad_request" });
  });
});

describe("reading", () => {
  test("[UTP-13.2-E3] the cards of a box are its newest tail in box order, missing ones left out", async () => {
    const cards = Array.from({ length: 4 }, () => sampleCard(A));
    await world.cards.putCards(A, cards);
    const [one, two, three, four] = cards.map((card) => card.card_id);
    const box = await world.boxes.createBox(A, [one, two, "gone", three, two, four].map(String));
    const load = async (limit?: number) => (await world.boxes.loadBoxCards(A, box, limit))?.map((card) => card.card_id);
    expect(await load()).toEqual([one, two, three, two, four]);
    expect(await load(4)).toEqual([three, two, four]);
    expect(await load(1)).toEqual([four]);
  });

  test.each([0, 501, 1.5, -1, Number.NaN])("[UTP-13.2-E3] a tail of %s cards is refused", async (limit) => {
    const box = await world.boxes.createBox(A, []);
    await expect(world.boxes.loadBoxCards(A, box, limit)).rejects.toMatchObject({ code: "bad_request" });
    await expect(world.boxes.loadBoxes(A, [box], { limit })).rejects.toMatchObject({ code: "bad_request" });
  });

  test("[UTP-13.2-E4] a batch of boxes comes in request order, each once, with what is missing", async () => {
    const card = sampleCard(A);
    await world.cards.putCards(A, [card]);
    const x = await world.boxes.createBox(A, [card.card_id, "gone", card.card_id]);
    const y = await world.boxes.createBox(A, ["gone", "away"]);
    const theirs = await world.boxes.createBox(B, ["x"]);
    const plain = await world.boxes.loadBoxes(A, [y, NOBODY, x, y, theirs]);
    expect(plain.boxes.map((box) => [box.boxId, box.cardIds])).toEqual([
      [y, ["gone", "away"]],
      [x, [card.card_id, "gone", card.card_id]],
    ]);
    expect(plain).toMatchObject({ missingBoxIds: [NOBODY, theirs], missingCardIds: [] });
    expect(plain.boxes[0]).not.toHaveProperty("hydratedCards");
    const hydrated = await world.boxes.loadBoxes(A, [y, x], { hydrate: true });
    expect(hydrated.boxes.map((box) => box.hydratedCards)).toEqual([[], [card, card]]);
    expect(hydrated.missingCardIds).toEqual(["gone", "away"]);
  });

  test("[UTP-13.2-E5] the limit is a tail per box, and the whole length is told", async () => {
    const x = await world.boxes.createBox(A, ["1", "2", "3"]);
    const y = await world.boxes.createBox(A, ["4"]);
    const { boxes } = await world.boxes.loadBoxes(A, [x, y], { limit: 2 });
    expect(boxes.map(({ cardIds, length }) => ({ cardIds, length }))).toEqual([
      { cardIds: ["2", "3"], length: 3 },
      { cardIds: ["4"], length: 1 },
    ]);
  });

  test("[UTP-13.2-E5] a hundred distinct boxes and not one more", async () => {
    const ids = Array.from({ length: 101 }, (_, i) => `box-${i}`);
    await expect(world.boxes.loadBoxes(A, ids)).rejects.toMatchObject({ code: "bad_request" });
    const hundred = ids.slice(0, 100);
    expect((await world.boxes.loadBoxes(A, [...hundred, ...hundred])).missingBoxIds).toEqual(hundred);
  });

  test("more cards than one answer may hold are refused", async () => {
    const many = (from: number) => Array.from({ length: 500 }, (_, i) => `c${from + i}`);
    const boxes = await Promise.all(Array.from({ length: 11 }, (_, i) => world.boxes.createBox(A, many(i * 500))));
    await expect(world.boxes.loadBoxes(A, boxes, { hydrate: true, limit: 500 })).rejects.toMatchObject({
      code: "bad_request",
    });
  });
});
