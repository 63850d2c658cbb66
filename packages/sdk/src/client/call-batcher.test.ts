import { ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import type { PoolAnswer } from "../http/pool.ts";
import { createCallBatcher } from "./call-batcher.ts";

interface Sent {
  readonly items: readonly { readonly tool_name: string; readonly wait_seconds: number }[];
  readonly signal: AbortSignal;
  /** The answer begins. */
  begin(): void;
  say(text: string): void;
  end(): void;
}

/** A server whose answers the test writes. */
const createWorld = () => {
  const sent: Sent[] = [];
  const alone: string[] = [];
  const send = (text: string, signal: AbortSignal): Promise<PoolAnswer> => {
    const begun = Promise.withResolvers<void>();
    const pieces: string[] = [];
    let over = false;
    let heard: (() => void) | undefined;
    const body = (async function* () {
      for (;;) {
        const piece = pieces.shift();
        if (piece !== undefined) yield new TextEncoder().encode(piece);
        else if (over || signal.aborted) return;
        else
          await new Promise<void>((resolve) => {
            heard = resolve;
          });
      }
    })();
    signal.addEventListener("abort", () => heard?.());
    sent.push({
      items: JSON.parse(text) as Sent["items"],
      signal,
      begin: begun.resolve,
      say: (piece) => {
        pieces.push(piece);
        heard?.();
      },
      end: () => {
        over = true;
        heard?.();
      },
    });
    return begun.promise.then(() => ({ status: 200, header: () => undefined, body }) as unknown as PoolAnswer);
  };
  const call = createCallBatcher({
    send,
    sendOne: async (text) => {
      alone.push(text);
      return { status: "success", result: "alone" };
    },
    now: () => 1_000,
    lost: () => new ToolplaneError("upstream_unavailable", "lost"),
  });
  const ask = (toolName: string, signal?: AbortSignal, size = 0) =>
    call({ toolName, arguments: { x: "x".repeat(size) }, key: toolName, untilMs: 3_500 }, signal);
  return { sent, alone, ask };
};

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const line = (index: number, result: string): string => `${JSON.stringify({ index, status: "success", result })}\n`;

describe("calls on their way", () => {
  test("[API-6-C3] a lone call goes at once and alone; those of one moment go together", async () => {
    const { sent, alone, ask } = createWorld();
    expect(await ask("one")).toMatchObject({ result: "alone" });
    expect(alone.map((text) => JSON.parse(text) as unknown)).toMatchObject([{ tool_name: "one", wait_seconds: 2.5 }]);
    const both = [ask("a"), ask("b")];
    await settle();
    expect(sent.map(({ items }) => items.map(({ tool_name: name }) => name))).toEqual([["a", "b"]]);
    sent[0]?.begin();
    // The second comes first, in two pieces.
    const text = line(1, "B");
    sent[0]?.say(text.slice(0, 7));
    sent[0]?.say(text.slice(7));
    expect(await both[1]).toEqual({ status: "success", result: "B" });
    sent[0]?.say(`\n${line(0, "A")}`);
    expect(await both[0]).toMatchObject({ result: "A" });
  });

  test("[API-6-C3] what is asked for while two requests are on their way goes with the next one", async () => {
    const { sent, ask } = createWorld();
    const asked = [ask("a"), ask("b")];
    await settle();
    asked.push(ask("c"));
    await settle();
    for (const name of ["d", "e"]) {
      asked.push(ask(name));
      await settle();
    }
    expect(sent).toHaveLength(2);
    sent[0]?.begin();
    await settle();
    expect(sent.map(({ items }) => items.length)).toEqual([2, 1, 2]);
    sent[1]?.begin();
    sent[2]?.begin();
    sent[0]?.say(line(0, "a") + line(1, "b"));
    sent[1]?.say(line(0, "c"));
    sent[2]?.say(line(0, "d") + line(1, "e"));
    expect((await Promise.all(asked)).map(({ result }) => result)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("[API-6-C2] an answer that ends too early fails the calls it leaves open, and no other", async () => {
    const { sent, ask } = createWorld();
    const [first, second] = [ask("a"), ask("b")];
    const failed = expect(second).rejects.toMatchObject({ code: "upstream_unavailable" });
    await settle();
    sent[0]?.begin();
    sent[0]?.say(line(0, "A"));
    sent[0]?.end();
    expect(await first).toMatchObject({ result: "A" });
    await failed;
  });

  test("[API-6-C3] large calls that wait are not sent again: gathered, they would be as many requests as before", async () => {
    const { sent, ask } = createWorld();
    for (let n = 0; n < 40; n += 1) {
      void ask(`large-${n}`, undefined, 600_000).catch(() => undefined);
      await settle();
      sent.at(-1)?.begin();
      await settle();
    }
    expect(sent).toHaveLength(40);
    expect(sent.filter(({ signal }) => signal.aborted)).toEqual([]);
  });

  test("a request is bounded in bytes and in items", async () => {
    const { sent, ask } = createWorld();
    for (let n = 0; n < 3; n += 1) void ask(`large-${n}`, undefined, 600_000).catch(() => undefined);
    await settle();
    expect(sent.map(({ items }) => items.length)).toEqual([1, 1]);
    const many = createWorld();
    for (let n = 0; n < 600; n += 1) void many.ask(`n-${n}`).catch(() => undefined);
    await settle();
    expect(many.sent.map(({ items }) => items.length)).toEqual([256, 256]);
  });

  test("[API-6-C4] an aborted call leaves its request, and the last one ends it", async () => {
    const { sent, ask } = createWorld();
    const [a, b] = [new AbortController(), new AbortController()];
    const failed = Promise.allSettled([ask("a", a.signal), ask("b", b.signal)]);
    await settle();
    a.abort();
    expect(sent[0]?.signal.aborted).toBe(false);
    b.abort();
    expect(sent[0]?.signal.aborted).toBe(true);
    expect((await failed).map((one) => one.status === "rejected" && (one.reason as ToolplaneError).code)).toEqual([
      "canceled",
      "canceled",
    ]);
  });
});
