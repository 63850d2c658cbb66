import { ToolplaneError } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createManualClock, settle } from "../../test/manual-clock.ts";
import { createExchange, type ExchangeOptions, type Said, type SaidKind, sayPatiently } from "./exchange.ts";
import { readSettled } from "./wire.ts";

type Item = { readonly tool_call_id: string } & Readonly<Record<string, unknown>>;
type Lists = Partial<Record<SaidKind, readonly Item[]>>;

interface Flight {
  readonly lists: Lists;
  readonly signal: AbortSignal;
  /** Answers every item well, or as it is told. */
  land(answer?: (item: Item, kind: SaidKind) => Record<string, unknown> | undefined): Promise<void>;
  crash(error: unknown): Promise<void>;
}

const settledBody = (item: Item): Record<string, unknown> => ({
  tool_result_card_id: `card_${item.tool_call_id}`,
  idempotent: false,
});

/** An exchange whose flushes wait for the test to land them. */
const createTower = (options: Partial<ExchangeOptions> = {}) => {
  const clock = createManualClock();
  const flights: Flight[] = [];
  const alone: string[] = [];
  const exchange = createExchange({
    clock,
    send: (text, signal) => {
      const lists = JSON.parse(text) as Lists;
      const { promise, resolve, reject } = Promise.withResolvers<{ body: unknown; clockAheadMs: number }>();
      const act = async (work: () => void): Promise<void> => {
        work();
        await settle(2);
      };
      flights.push({
        lists,
        signal,
        land: (answer = settledBody) =>
          act(() => {
            const body = Object.fromEntries(
              Object.entries(lists).map(([kind, items]) => [
                kind,
                items.map((item) => ({ tool_call_id: item.tool_call_id, ...answer(item, kind as SaidKind) })),
              ]),
            );
            resolve({ body, clockAheadMs: 0 });
          }),
        crash: (error) => act(() => reject(error)),
      });
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    },
    ...options,
  });
  const said = (toolCallId: string, more: Partial<Said<string>> = {}): Said<string> => ({
    kind: "results",
    toolCallId,
    body: { status: "success" },
    read: (answer) => readSettled(answer).toolResultCardId ?? "",
    alone: async () => {
      alone.push(toolCallId);
      return `alone_${toolCallId}`;
    },
    ...more,
  });
  const ids = () =>
    flights.map(({ lists }) => Object.values(lists).flatMap((items) => items.map((item) => item.tool_call_id)));
  const flight = (index: number): Flight => {
    const found = flights[index];
    if (found === undefined) throw new ToolplaneError("internal_error", `there is no flight ${index}`);
    return found;
  };
  return { clock, exchange, flights, flight, alone, said, ids };
};

const away = (): ToolplaneError => new ToolplaneError("upstream_unavailable", "away");

describe("collecting", () => {
  test("[API-exchange-6] what is alone leaves in the same tick, without a timer", async () => {
    const { exchange, said, flight, ids } = createTower();
    const answer = exchange(said("a", { traceparent: "span" }));
    await Promise.resolve();
    expect(ids()).toEqual([["a"]]);
    expect(flight(0).lists).toEqual({ results: [{ tool_call_id: "a", status: "success", traceparent: "span" }] });
    await flight(0).land();
    expect(await answer).toBe("card_a");
  });

  test("[API-exchange-6] what is ready while requests are on their way goes with the next, in order", async () => {
    const { exchange, said, flight, ids } = createTower({ inFlight: 1 });
    const answers = [exchange(said("a"))];
    await settle(1);
    for (const id of ["b", "c"]) answers.push(exchange(said(id)));
    answers.push(exchange(said("d", { kind: "releases" })), exchange(said("e")));
    await settle(1);
    expect(ids()).toEqual([["a"]]);
    await flight(0).land();
    expect(ids()).toEqual([["a"], ["b", "c", "e", "d"]]);
    await flight(1).land();
    expect(await Promise.all(answers)).toEqual(["card_a", "card_b", "card_c", "card_d", "card_e"]);
  });

  test("[API-exchange-6] a flush is capped by number and by size, and what is large goes alone", async () => {
    const { exchange, said, flights, flight, alone } = createTower({ inFlight: 1 });
    const answers = Array.from({ length: 300 }, (_, i) => exchange(said(`n${i}`)));
    await settle(1);
    expect(flights.map(({ lists }) => lists.results?.length)).toEqual([256]);
    await flight(0).land();
    await flight(1).land();
    await Promise.all(answers);
    const text = "x".repeat(30 * 1024);
    const heavy = Array.from({ length: 5 }, (_, i) => exchange(said(`h${i}`, { body: { result: text } })));
    await settle(1);
    for (const index of [2, 3]) await flight(index).land();
    await Promise.all(heavy);
    expect(flights.slice(2).map(({ lists }) => lists.results?.length)).toEqual([3, 2]);
    expect(await exchange(said("large", { body: { result: "x".repeat(40 * 1024) } }))).toBe("alone_large");
    expect(alone).toEqual(["large"]);
  });

  test("[API-exchange-6] a transport that takes less gets less", async () => {
    const { exchange, said, flights } = createTower({ inFlight: 1, maxChars: () => 100 });
    for (const id of ["a", "b", "c"]) void exchange(said(id));
    await settle(1);
    expect(flights.map(({ lists }) => lists.results?.length)).toEqual([2]);
  });

  test("[API-exchange-6] a flush that takes long makes room for the next", async () => {
    const { exchange, said, ids, clock } = createTower({ inFlight: 1 });
    void exchange(said("hung"));
    await settle(1);
    void exchange(said("beat", { kind: "heartbeats" }));
    await clock.advance(1_999);
    expect(ids()).toEqual([["hung"]]);
    await clock.advance(1);
    expect(ids()).toEqual([["hung"], ["beat"]]);
  });
});

describe("answers", () => {
  test("[API-exchange-7] each item has its own: one refusal, one that cannot be read, the rest well", async () => {
    const { exchange, said, flight } = createTower();
    const answers = Promise.allSettled(["a", "b", "c", "d"].map((id) => exchange(said(id))));
    await settle(1);
    await flight(0).land((item) => {
      if (item.tool_call_id === "b")
        return { error: { code: "lease_lost", message: "gone", detail: { status: "success" } } };
      return item.tool_call_id === "c" ? {} : settledBody(item);
    });
    expect(await answers).toMatchObject([
      { value: "card_a" },
      { reason: { code: "lease_lost", message: "gone", detail: { status: "success", http_status: 409 } } },
      { reason: { code: "upstream_unavailable" } },
      { value: "card_d" },
    ]);
  });

  test("[API-exchange-7] an answer with fewer items, or none at all, is the plane's trouble", async () => {
    const { exchange, said } = createTower({ send: async () => ({ body: { results: [{}] }, clockAheadMs: 0 }) });
    const answers = await Promise.allSettled([
      exchange(said("a")),
      exchange(said("b")),
      exchange(said("c", { kind: "parts" })),
    ]);
    expect(answers.map((answer) => answer.status === "rejected" && (answer.reason as ToolplaneError).code)).toEqual([
      "upstream_unavailable",
      "upstream_unavailable",
      "upstream_unavailable",
    ]);
  });
});

describe("failures", () => {
  test("[API-exchange-7] a plane that is away: each item waits as it would have alone, and is sent again alone", async () => {
    const { exchange, said, flight, alone, clock } = createTower();
    const deps = { clock, random: () => 1 };
    const patient = ["a", "b"].map((id) =>
      sayPatiently(deps, exchange, said(id), { until: () => clock.now() + 60_000 }),
    );
    const once = sayPatiently(deps, exchange, said("beat", { kind: "heartbeats" })).catch((error: unknown) => error);
    await settle(1);
    await flight(0).crash(away());
    expect(await once).toMatchObject({ code: "upstream_unavailable" });
    expect(alone).toEqual([]);
    await clock.advance(200);
    expect(await Promise.all(patient)).toEqual(["alone_a", "alone_b"]);
  });

  test("[API-exchange-7] an exchange that is refused as a whole is sent again item by item, at once", async () => {
    const { exchange, said, flight, alone, flights } = createTower();
    const answers = ["a", "b"].map((id) => exchange(said(id)));
    await settle(1);
    await flight(0).crash(new ToolplaneError("bad_request", "the body is 65 levels deep"));
    expect(await Promise.all(answers)).toEqual(["alone_a", "alone_b"]);
    void exchange(said("c"));
    await settle(1);
    expect(flights).toHaveLength(2);
    expect(alone).toEqual(["a", "b"]);
  });

  test("[API-exchange-7] a plane without exchanges is asked by the single operations from then on", async () => {
    const { exchange, said, flight, alone, flights } = createTower();
    const first = exchange(said("a"));
    await settle(1);
    await flight(0).crash(new ToolplaneError("not_found", "there is nothing at /exchange"));
    expect(await first).toBe("alone_a");
    expect(await exchange(said("b"))).toBe("alone_b");
    expect(alone).toEqual(["a", "b"]);
    expect(flights).toHaveLength(1);
  });

  test("[API-exchange-7] an item that was given up leaves the others; a flush of given-up items is given up", async () => {
    const { exchange, said, flight, ids } = createTower({ inFlight: 1 });
    const enough = new AbortController();
    const { signal } = enough;
    const flying = [exchange(said("a", { signal })), exchange(said("b"))].map((work) =>
      work.catch((error: unknown) => error),
    );
    await settle(1);
    const waiting = exchange(said("c", { signal })).catch((error: unknown) => error);
    const last = exchange(said("d"));
    enough.abort();
    expect(await waiting).toMatchObject({ code: "canceled" });
    expect(flight(0).signal.aborted).toBe(false);
    await flight(0).land();
    expect(await Promise.all(flying)).toMatchObject([{ code: "canceled" }, "card_b"]);
    expect(ids()).toEqual([["a", "b"], ["d"]]);
    await flight(1).land();
    expect(await last).toBe("card_d");
    const all = new AbortController();
    const lone = exchange(said("e", { signal: all.signal })).catch((error: unknown) => error);
    await settle(1);
    all.abort();
    expect(await lone).toMatchObject({ code: "canceled" });
    expect(flight(2).signal.aborted).toBe(true);
  });

  test("[API-exchange-7] an item with a time limit of its own is not kept by the flush", async () => {
    const { exchange, said, clock, flight } = createTower();
    const beat = exchange(said("beat", { kind: "heartbeats", timeoutMs: 5_000 })).catch((error: unknown) => error);
    const result = exchange(said("a"));
    await clock.advance(5_000);
    expect(await beat).toMatchObject({ code: "upstream_unavailable", message: expect.stringContaining("5000 ms") });
    await flight(0).land();
    expect(await result).toBe("card_a");
    expect(clock.sleeping()).toBe(0);
  });
});

test("[API-exchange-6] [API-exchange-7] however items come and flights end, each is answered once and counts once", async () => {
  const ends = fc.constantFrom("land", "lost before", "lost after", "refused");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }), { maxLength: 6 }),
      fc.array(ends, { maxLength: 12 }),
      fc.integer({ min: 1, max: 3 }),
      async (bursts, fates, inFlight) => {
        const clock = createManualClock();
        /** What the plane has: the first result of a call counts, the same again is not a second one. */
        const stored = new Map<string, number>();
        const write = (id: string): Record<string, unknown> => {
          const seen = stored.get(id) ?? 0;
          stored.set(id, seen + 1);
          return { tool_call_id: id, tool_result_card_id: `card_${id}`, idempotent: seen > 0 };
        };
        let flights = 0;
        const exchange = createExchange({
          clock,
          inFlight,
          send: async (text) => {
            const fate = fates[flights] ?? "land";
            flights += 1;
            await settle(1);
            if (fate === "refused") throw new ToolplaneError("bad_request", "no");
            if (fate === "lost before") throw away();
            const results = (JSON.parse(text) as { results: Item[] }).results.map((item) => write(item.tool_call_id));
            if (fate === "lost after") throw away();
            return { body: { results }, clockAheadMs: 0 };
          },
        });
        let count = 0;
        const answers: Promise<string>[] = [];
        for (const burst of bursts) {
          for (const _ of burst) {
            count += 1;
            const id = `call_${count}`;
            const said: Said<string> = {
              kind: "results",
              toolCallId: id,
              body: {},
              read: (answer) => readSettled(answer).toolResultCardId ?? "",
              alone: async () => String(write(id).tool_result_card_id),
            };
            answers.push(sayPatiently({ clock, random: () => 0 }, exchange, said, { until: () => Infinity }));
          }
          await settle(1);
        }
        const all = Promise.all(answers);
        await settle(2);
        await clock.advance(1_000);
        expect(await all).toEqual(Array.from({ length: count }, (_, i) => `card_call_${i + 1}`));
        expect(stored.size).toBe(count);
      },
    ),
    { numRuns: 40 },
  );
});
