import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { systemClock } from "../ports/clock.ts";
import type { HostPlugin, HostToolCall } from "./plugin.ts";
import { type Host, serveHost } from "./serve-host.ts";

interface Served {
  readonly host: Host;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly send: (id: string, method: string, params?: object) => void;
  /** Everything the host wrote, once it is done. */
  readonly answers: () => Promise<readonly { id: string | null; ok?: boolean; error?: { type: string } }[]>;
  readonly notes: string[];
}

const serve = (plugin: Partial<HostPlugin>, drainMs = 1000): Served => {
  const [input, output, notes] = [new PassThrough(), new PassThrough(), [] as string[]];
  const whole = { getToolSchemas: () => [], executeTool: () => ({ success: true as const }), ...plugin };
  const host = serveHost({
    plugin: whole,
    input,
    output,
    stderr: (text) => notes.push(text),
    clock: systemClock,
    drainMs,
  });
  let text = "";
  output.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  return {
    host,
    input,
    output,
    notes,
    send: (id, method, params = {}) => input.write(`${JSON.stringify({ v: 1, id, method, params })}\n`),
    async answers() {
      await host.done;
      return text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    },
  };
};

const call = (toolName: string) => ({ tool_name: toolName, arguments: {}, state: {} });
const never = () => new Promise<never>(() => {});

describe("serveHost", () => {
  test("[HOST-3-9] SH1 an input that breaks is an input that ends", async () => {
    const { send, input, answers } = serve({});
    send("1", "execute_tool", call("x"));
    input.destroy(new RangeError("gone"));
    expect(await answers()).toMatchObject([{ id: "1", ok: true }]);
  });

  test("[HOST-3-9] SH3 when nobody can read answers there is nothing to wait for", async () => {
    const { send, output, host } = serve({ executeTool: never }, 1e9);
    send("1", "execute_tool", call("x"));
    output.destroy();
    await host.done;
  });

  test("[HOST-5-4] two shutdowns are both answered", async () => {
    const { send, answers } = serve({});
    send("1", "shutdown");
    send("2", "shutdown");
    expect(await answers()).toMatchObject([
      { id: "1", ok: true },
      { id: "2", ok: true },
    ]);
  });

  test("[HOST-1-H3] parts and log entries after the answer go nowhere", async () => {
    let kept: HostToolCall | undefined;
    const { send, input, answers, notes } = serve({
      executeTool: (given) => {
        kept = given;
        return { success: true };
      },
    });
    send("h", "hello", { extensions: ["log"] });
    send("1", "execute_tool", call("x"));
    await new Promise((resolve) => setImmediate(resolve));
    void kept?.emit("late");
    kept?.log.info("late");
    input.end();
    expect(await answers()).toMatchObject([
      { id: "h", ok: true },
      { id: "1", ok: true },
    ]);
    expect(notes).toEqual(["toolplane info: late\n"]);
  });

  test("[HOST-1-H1] beyond ten thousand running requests more are refused, and say so", async () => {
    const { send, input, answers } = serve({ executeTool: never }, 0);
    for (let n = 0; n <= 10_000; n++) send(`n${n}`, "execute_tool", call("x"));
    input.end();
    const [first, ...rest] = await answers();
    expect(first).toMatchObject({ id: "n10000", ok: false, error: { type: "Overloaded" } });
    expect(rest).toHaveLength(10_000);
    expect(rest.every(({ error }) => error?.type === "Canceled")).toBe(true);
  });

  test("[HOST-3-10] an error that reaches the top outside of any request is noted and ends nothing", async () => {
    const { host, send, input, answers, notes } = serve({});
    host.takeUncaught(new RangeError("from nowhere"));
    host.takeUncaught("a text");
    send("1", "ping");
    input.end();
    expect(await answers()).toMatchObject([{ id: "1", ok: true }]);
    expect(notes.join("")).toContain("from nowhere");
  });
});
