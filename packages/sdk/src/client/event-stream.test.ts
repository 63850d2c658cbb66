import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEvents } from "./event-stream.ts";
import type { RawEvent } from "./way.ts";

const collect = async (chunks: readonly Uint8Array[]): Promise<readonly RawEvent[]> => {
  async function* feed(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const events: RawEvent[] = [];
  for await (const page of readEvents(feed())) events.push(...page);
  return events;
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("server-sent events", () => {
  test.each([
    ["one event", "id: 7\nevent: evt\ndata: {}\n\n", [{ id: "7", event: "evt", data: "{}" }]],
    ["carriage returns", "data: a\r\n\r\n", [{ id: undefined, event: "message", data: "a" }]],
    ["several lines of data", "data: a\ndata:b\ndata\n\n", [{ id: undefined, event: "message", data: "a\nb\n" }]],
    ["comments and unknown fields", ": hello\nretry: 5\n\n: still here\n\n", []],
    ["an id alone", ": connected\nid: 4\n\n", [{ id: "4", event: "message", data: "" }]],
    ["an event that was cut off", "data: a\n\ndata: b", [{ id: undefined, event: "message", data: "a" }]],
  ])("%s", async (_, text, events) => {
    expect(await collect([bytes(text)])).toEqual(events);
  });

  test("events are the same wherever the stream is cut into pieces", async () => {
    const text = 'id: 1\nevent: evt\ndata: {"text":"grüße"}\n\n: x\n\nevent: str\ndata: 🙂\n\n';
    const whole = bytes(text);
    const expected = await collect([whole]);
    expect(expected).toHaveLength(2);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 12 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((end, index) => whole.subarray(at[index], end));
        expect(await collect(pieces)).toEqual(expected);
      }),
    );
  });

  test("an event that never ends is refused instead of kept", async () => {
    const piece = bytes(`data: ${"x".repeat(4 * 1024 * 1024)}\n`);
    await expect(collect(Array.from({ length: 9 }, () => piece))).rejects.toMatchObject({
      code: "upstream_unavailable",
    });
  });
});
