// The reader of events against a scripted server: what it sends back, and when everything is listed again.

import { expect, test } from "vitest";
import { type PlaneEvent, runEventStream, type StreamState } from "./event-stream.ts";

type Reply = { readonly status?: number; readonly text?: string; readonly takesMs?: number };

const evt = (id: string): string => `event: evt\ndata: {"subject":"s.${id}","payload":{"n":1}}\nid: ${id}\n\n`;

/** Each reply serves one connection; after the last one the test is over. */
const play = async (replies: readonly Reply[]) => {
  const over = new AbortController();
  const asked: (string | undefined)[] = [];
  const seen: string[] = [];
  const states: StreamState[] = [];
  let now = 0;
  await runEventStream(
    {
      now: () => now,
      async connect(lastId) {
        const reply = replies[asked.length];
        asked.push(lastId);
        if (reply === undefined) {
          over.abort();
          throw new TypeError("the server is away");
        }
        const { status = 200, text = "", takesMs = 0 } = reply;
        now += takesMs;
        if (status === 0) throw new TypeError("the server is away");
        return new Response(text, { status });
      },
      sleep: (ms, signal) =>
        ms > 10_000
          ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
          : Promise.resolve(),
    },
    {
      events: (events: readonly PlaneEvent[]) => seen.push(...events.map(({ subject }) => subject)),
      state: (state) => states.push(state),
      fresh: () => seen.push("fresh"),
    },
    over.signal,
  );
  return { asked, seen, states };
};

test("a lost connection is continued where it was, without listing again", async () => {
  const { asked, seen } = await play([{ text: `id: 1\n\n${evt("2")}` }, { status: 0 }, { text: evt("3") }]);
  expect(asked).toEqual([undefined, "2", "2", "3"]);
  expect(seen).toEqual(["fresh", "s.2", "s.3"]);
});

test("the first id counts, also when no event follows it", async () => {
  expect((await play([{ text: "id: 1\n\n" }])).asked).toEqual([undefined, "1"]);
});

test("an id that the server does not know begins the stream anew", async () => {
  const { asked, seen } = await play([{ text: evt("2") }, { status: 400 }, { text: evt("9") }]);
  expect(asked).toEqual([undefined, "2", undefined, "9"]);
  expect(seen).toEqual(["fresh", "s.2", "fresh", "s.9"]);
});

test("after a long absence everything is listed again", async () => {
  const { asked, seen } = await play([{ text: evt("2") }, { status: 0, takesMs: 90_000 }, { text: evt("8") }]);
  expect(asked).toEqual([undefined, "2", undefined, "8"]);
  expect(seen).toEqual(["fresh", "s.2", "fresh", "s.8"]);
});

test("what the server left out is listed again, not more often than every few seconds", async () => {
  const gap = 'event: gap\ndata: {"message":"deleted"}\n\n';
  const { seen } = await play([
    { text: evt("2") },
    { text: `${gap}${evt("3")}`, takesMs: 10_000 },
    { text: `${gap}${evt("4")}`, takesMs: 1_000 },
  ]);
  expect(seen).toEqual(["fresh", "s.2", "s.3", "fresh", "s.4"]);
});

test("a project that is not there ends the stream, and the server is not said to be away", async () => {
  const { asked, states } = await play([{ status: 404 }]);
  expect(asked).toHaveLength(1);
  expect(states).toEqual(["connecting", "missing"]);
});

test.each([
  ["a refusal", { status: 401 }],
  ["the end of the session", { text: 'event: end\ndata: {"error":{"code":"unauthorized"}}\n\n' }],
])("%s ends the stream", async (_name, reply) => {
  const { asked, states } = await play([reply]);
  expect(asked).toHaveLength(1);
  expect(states.at(-1)).toBe("refused");
});
