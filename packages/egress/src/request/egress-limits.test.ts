import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { allow, failureOf, startServer } from "../../test/servers.ts";
import type { EgressLimits } from "../policy/policy.ts";
import { createEgress } from "./egress.ts";

const MEGABYTE = 1024 * 1024;

const setUp = async (answer: RequestListener, limits: Partial<EgressLimits> = {}) => {
  const server = await startServer(answer);
  const origin = `http://127.0.0.1:${server.port}`;
  const egress = createEgress({ hosts: "any", allow: allow(origin), limits });
  return { server, origin, egress, read: async () => (await egress.fetch(origin)).text() };
};

describe("an answer has limits", () => {
  test.each<[string, RequestListener, Partial<EgressLimits>, string]>([
    [
      "a few bytes that unpack to 64 megabytes",
      (_, answer) => {
        answer.setHeader("content-encoding", "gzip");
        answer.end(gzipSync(Buffer.alloc(64 * MEGABYTE)));
      },
      { bodyBytes: MEGABYTE },
      "result_too_large",
    ],
    [
      "a body packed twice",
      (_, answer) => {
        answer.setHeader("content-encoding", "gzip, gzip");
        answer.end(gzipSync(gzipSync(Buffer.alloc(MEGABYTE))));
      },
      {},
      "upstream_unavailable",
    ],
    [
      "a body without end",
      (_, answer) => {
        const more = (): void => {
          while (answer.write(Buffer.alloc(65_536))) if (answer.destroyed) return;
        };
        answer.on("drain", more);
        more();
      },
      { bodyBytes: MEGABYTE },
      "result_too_large",
    ],
    [
      "an announced length",
      (_, answer) => {
        answer.setHeader("content-length", 2 * MEGABYTE);
        answer.end(Buffer.alloc(2 * MEGABYTE));
      },
      { bodyBytes: MEGABYTE },
      "result_too_large",
    ],
    [
      "headers",
      (_, answer) => {
        for (let i = 0; i < 40; i++) answer.setHeader(`x-${i}`, "x".repeat(1000));
        answer.end("small");
      },
      { headerBytes: 16 * 1024 },
      "result_too_large",
    ],
    ["silence before the headers", () => undefined, { idleMs: 100 }, "upstream_unavailable"],
    [
      "silence in the middle",
      (_, answer) => {
        answer.write("begun");
      },
      { idleMs: 100 },
      "upstream_unavailable",
    ],
    [
      "a drip that never ends",
      (_, answer) => {
        const drip = setInterval(() => answer.write("."), 10);
        answer.on("close", () => clearInterval(drip));
      },
      { totalMs: 300 },
      "upstream_unavailable",
    ],
  ])("[SEC-6-6] %s", async (_what, answer, limits, code) => {
    const { server, egress, read } = await setUp(answer, limits);
    expect(await failureOf(read())).toMatchObject({ code, message: expect.stringContaining("127.0.0.1") });
    // The connection is given up with the answer: what the server sends after that is not read.
    await expect.poll(server.open).toBe(0);
    await egress.close();
  });

  test("[SEC-6-6] what is under the limits arrives, packed or not", async () => {
    const { read, egress } = await setUp((_, answer) => {
      answer.setHeader("content-encoding", "gzip");
      answer.end(gzipSync("hello"));
    });
    expect(await read()).toBe("hello");
    await egress.close();
  });
});

describe("a stream", () => {
  test("[SEC-6-6] is read while it comes; an abort reaches the socket", async () => {
    let send = (_text: string): void => undefined;
    const { server, origin, egress } = await setUp((_, answer) => {
      send = (text) => void answer.write(text);
      send("one");
    });
    const stop = new AbortController();
    const response = await egress.fetch(origin, { signal: stop.signal });
    const reader = response.body?.getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value as Uint8Array);
    expect(await next()).toBe("one");
    send("two");
    expect(await next()).toBe("two");
    const waiting = failureOf(next());
    stop.abort(new TypeError("enough"));
    expect(await waiting).toMatchObject({ message: "enough" });
    await expect.poll(server.open).toBe(0);
    await egress.close();
  });

  test("[SEC-6-6] an abort before the answer reaches the socket", async () => {
    const { server, origin, egress } = await setUp(() => undefined);
    const stop = new AbortController();
    const waiting = failureOf(egress.fetch(origin, { signal: stop.signal }));
    await expect.poll(server.open).toBe(1);
    stop.abort();
    expect(await waiting).toMatchObject({ name: "AbortError" });
    await expect.poll(server.open).toBe(0);
    await egress.close();
  });
});
