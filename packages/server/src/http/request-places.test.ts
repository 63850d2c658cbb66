import { describe, expect, test } from "vitest";
import { createRequestPlaces } from "./request-places.ts";

const LIMITS = { perProject: 2, inAll: 3, inLine: 4 };
const here = new AbortController().signal;

/** Enters and writes down when it was admitted. */
const enter = (places: ReturnType<typeof createRequestPlaces>, projectId: string, seen: string[], signal = here) =>
  places.enter(projectId, signal).then((place) => {
    seen.push(projectId);
    return place;
  });
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("[SEC-admission] which requests are worked on at once", () => {
  test("a project has so many places, all projects together a few more", async () => {
    const places = createRequestPlaces(LIMITS);
    const seen: string[] = [];
    const first = await enter(places, "a", seen);
    await enter(places, "a", seen);
    const third = enter(places, "a", seen);
    await enter(places, "b", seen);
    const later = enter(places, "c", seen);
    await settle();
    expect([seen, places.count()]).toEqual([["a", "a", "b"], 2]);
    first[Symbol.dispose]();
    // Twice is once.
    first[Symbol.dispose]();
    await third;
    await settle();
    expect(seen).toEqual(["a", "a", "b", "a"]);
    (await third)[Symbol.dispose]();
    await later;
    expect([seen.at(-1), places.count()]).toEqual(["c", 0]);
  });

  test("lines take turns: a long one is no disadvantage for a short one", async () => {
    const places = createRequestPlaces({ ...LIMITS, inAll: 1 });
    const seen: string[] = [];
    const first = await enter(places, "a", seen);
    const waiting = ["a", "a", "a", "b", "b"].map((projectId) => enter(places, projectId, seen));
    first[Symbol.dispose]();
    for (const place of waiting) void place.then((held) => held[Symbol.dispose]());
    await Promise.all(waiting);
    expect(seen).toEqual(["a", "a", "b", "a", "b", "a"]);
  });

  test("a full line refuses, and says when to come again", async () => {
    const places = createRequestPlaces(LIMITS);
    const seen: string[] = [];
    for (let entered = 0; entered < 2; entered++) await enter(places, "a", seen);
    const inLine = Array.from({ length: 4 }, () => enter(places, "a", seen));
    await expect(enter(places, "a", seen)).rejects.toMatchObject({
      code: "rate_limited",
      detail: { max_in_line: 4, retry_after_seconds: 1 },
    });
    await enter(places, "b", seen);
    expect([seen, inLine.length, places.count()]).toEqual([["a", "a", "b"], 4, 4]);
  });

  test("a client that goes away leaves the line", async () => {
    const places = createRequestPlaces({ ...LIMITS, inAll: 1 });
    const seen: string[] = [];
    const first = await enter(places, "a", seen);
    const going = new AbortController();
    const gone = enter(places, "b", seen, going.signal);
    const next = enter(places, "c", seen);
    going.abort(new Error("the client has gone"));
    await expect(gone).rejects.toThrow("the client has gone");
    await expect(enter(places, "b", seen, going.signal)).rejects.toThrow("the client has gone");
    expect(places.count()).toBe(1);
    first[Symbol.dispose]();
    await next;
    expect(seen).toEqual(["a", "c"]);
  });
});
