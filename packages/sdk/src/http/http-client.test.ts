import { describe, expect, test } from "vitest";
import { createManualClock, settle } from "../../test/manual-clock.ts";
import { createHttpClient } from "./http-client.ts";

const REQUEST = { method: "GET", path: "/health", timeoutMs: 5_000 } as const;

/** A server that answers, or never does; what it was given is kept. */
const createWorld = (answer: (() => Response) | undefined) => {
  const clock = createManualClock();
  const signals: AbortSignal[] = [];
  const send: typeof fetch = (_url, { signal } = {}) => {
    const given = signal as AbortSignal;
    signals.push(given);
    return new Promise((resolve, reject) => {
      if (answer !== undefined) return resolve(answer());
      given.addEventListener("abort", () => reject(given.reason));
    });
  };
  return { clock, signals, client: createHttpClient({ url: "http://plane", token: "t", clock, fetch: send }) };
};

describe("the time a request has", () => {
  test("[API-5-H1] a server that says nothing is given up after it, with its address", async () => {
    const { client, clock, signals } = createWorld(undefined);
    const asked = expect(client(REQUEST)).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: "http://plane did not answer within 5000 ms",
    });
    await clock.advance(4_999);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    await asked;
  });

  test("[API-5-H1] a request that was answered is told nothing more, and nothing waits for it", async () => {
    const { client, clock, signals } = createWorld(() => Response.json({ ok: true }));
    expect(await client(REQUEST)).toMatchObject({ status: 200, body: { ok: true } });
    await settle();
    expect(clock.sleeping()).toBe(0);
    expect(signals[0]?.aborted).toBe(false);
  });

  test("[API-5-H1] whoever asked may give up before", async () => {
    const { client, clock } = createWorld(undefined);
    const enough = new AbortController();
    const asked = expect(client({ ...REQUEST, signal: enough.signal })).rejects.toMatchObject({ code: "canceled" });
    await clock.advance(10);
    enough.abort();
    await asked;
    await settle();
    expect(clock.sleeping()).toBe(0);
  });
});
