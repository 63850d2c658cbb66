import fc from "fast-check";
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

const cardIdsOf = async (boxId: string): Promise<readonly string[] | undefined> =>
  (await world.boxes.loadBox(A, boxId))?.cardIds;

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

  test("[UTP-4.6-E2] save replaces the list, also by a shorter or an empty one", async () => {
    const box = await world.boxes.createBox(A, ["a", "b", "c"]);
    await world.boxes.saveBox(A, box, ["c", "d"]);
    expect(await cardIdsOf(box)).toEqual(["c", "d"]);
    await world.boxes.saveBox(A, box, []);
    expect(await world.boxes.loadBox(A, box)).toMatchObject({ length: 0, cardIds: [] });
    await world.boxes.appendToBox(A, box, ["e"]);
    expect(await cardIdsOf(box)).toEqual(["e"]);
  });

  test("[UTP-4.6-E3] append concatenates without removing duplicates and tells the new length", async () => {
    const box = await world.boxes.createBox(A, ["a"]);
    expect(await world.boxes.appendToBox(A, box, ["b", "a"])).toBe(3);
    expect(await world.boxes.appendToBox(A, box, [])).toBe(3);
    expect(await cardIdsOf(box)).toEqual(["a", "b", "a"]);
  });

  test("[UTP-4.6-E4] save and append to a box the project does not have are not_found", async () => {
    const theirs = await world.boxes.createBox(B, ["x"]);
    for (const box of [NOBODY, theirs, "", "a\u0000b"]) {
      await expect(world.boxes.saveBox(A, box, ["a"])).rejects.toMatchObject({ code: "not_found" });
      await expect(world.boxes.appendToBox(A, box, ["a"])).rejects.toMatchObject({ code: "not_found" });
    }
    expect((await world.boxes.loadBox(B, theirs))?.cardIds).toEqual(["x"]);
  });

  test("[UTP-4.6-E5] ensure returns a box the project has, else a new empty one", async () => {
    const box = await world.boxes.createBox(A, ["a"]);
    const theirs = await world.boxes.createBox(B, ["x"]);
    expect(await world.boxes.ensureBox(A, box)).toBe(box);
    for (const given of [undefined, null, NOBODY, theirs]) {
      const made = await world.boxes.ensureBox(A, given);
      expect([NOBODY, theirs]).not.toContain(made);
      expect(await cardIdsOf(made)).toEqual([]);
    }
  });

  test("[UTP-4.6-E6] a missing box loads as nothing, and so does another project's", async () => {
    const theirs = await world.boxes.createBox(B, ["x"]);
    expect(await world.boxes.loadBox(A, NOBODY)).toBeUndefined();
    expect(await world.boxes.loadBox(A, theirs)).toBeUndefined();
    expect(await world.boxes.loadBoxCards(A, theirs)).toBeUndefined();
  });

  test("ids the database cannot hold, and too many at once, are refused", async () => {
    const box = await world.boxes.createBox(A, []);
    for (const ids of [[""], ["a\u0000"], ["\ud800"], Array.from({ length: 10_001 }, () => "a")]) {
      await expect(world.boxes.appendToBox(A, box, ids)).rejects.toMatchObject({ code: "bad_request" });
      await expect(world.boxes.createBox(A, ids)).rejects.toMatchObject({ code: "bad_request" });
    }
    expect(await cardIdsOf(box)).toEqual([]);
  });

  test("a save inside a transaction that is rolled back changes nothing", async () => {
    const box = await world.boxes.createBox(A, ["a"]);
    const failed = world.db.transaction(async (tx) => {
      await world.boxes.saveBox(A, box, ["b", "c"], tx);
      await world.boxes.appendToBox(A, NOBODY, ["x"], tx);
    });
    await expect(failed).rejects.toMatchObject({ code: "not_found" });
    expect(await cardIdsOf(box)).toEqual(["a"]);
  });
});

describe("at once", () => {
  test("[UTP-4.6-E7] fifty concurrent appends: none is lost and each stays together in one total order", async () => {
    const box = await world.boxes.createBox(A, []);
    const appends = Array.from({ length: 50 }, (_, i) => [`${i}-a`, `${i}-b`, `${i}-c`]);
    const lengths = await Promise.all(appends.map((ids) => world.boxes.appendToBox(A, box, ids)));
    const stored = (await cardIdsOf(box)) ?? [];
    expect([...lengths].sort((x, y) => x - y)).toEqual(appends.map((_, i) => (i + 1) * 3));
    for (const [i, ids] of appends.entries()) {
      const end = lengths[i] ?? 0;
      expect(stored.slice(end - 3, end)).toEqual(ids);
    }
    expect(stored).toHaveLength(150);
  });

  test("[UTP-4.6-E8] appends and replacements never mix: the list is the last replacement and what came after it", async () => {
    const box = await world.boxes.createBox(A, ["start"]);
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        i % 4 === 0
          ? world.boxes.saveBox(A, box, [`s${i}`, `s${i}`])
          : world.boxes.appendToBox(A, box, [`a${i}`, `a${i}`]),
      ),
    );
    const loaded = await world.boxes.loadBox(A, box);
    const ids = loaded?.cardIds ?? [];
    expect(ids).toHaveLength(loaded?.length ?? -1);
    expect(ids[0]).toMatch(/^s/);
    expect(ids.slice(2).every((id) => id.startsWith("a"))).toBe(true);
    expect(ids.filter((_, i) => i % 2 === 0)).toEqual(ids.filter((_, i) => i % 2 === 1));
  });

  test("[UTP-4.6-E3] any sequence of saves and appends leaves what a plain list would hold", async () => {
    const ids = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 6 });
    const step = fc.record({ save: fc.boolean(), ids });
    await fc.assert(
      fc.asyncProperty(ids, fc.array(step, { maxLength: 8 }), async (start, steps) => {
        const box = await world.boxes.createBox(A, start);
        let expected = [...start];
        for (const { save, ids: given } of steps) {
          if (save) await world.boxes.saveBox(A, box, given);
          else await world.boxes.appendToBox(A, box, given);
          expected = save ? given : [...expected, ...given];
        }
        expect(await world.boxes.loadBox(A, box)).toMatchObject({ cardIds: expected, length: expected.length });
      }),
      { numRuns: 25 },
    );
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
