// A parent that does not read, and results as large as they get: nothing waits longer than it must, and memory stays bounded.

import { describe, expect, test, vi } from "vitest";
import { callParams, type HostClient, startHost } from "./child-client.ts";
import { HOSTS, nodeHost, pythonHost } from "./child-hosts.ts";

// Hundreds of megabytes through pipes, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const MB = 1024 * 1024;
/** How often nothing may have changed before the host is taken to be at rest. Too few would weaken the test, not break it. */
const LOOKS = 10;

const REQUESTS = 300;
/** What each may have had at most: 660 and 350 MB when every request is read, 260 and 70 MB when not, by measurement. */
const MOST = new Map([
  [nodeHost, 420 * MB],
  [pythonHost, 200 * MB],
]);
const PARTS = 25_000;

const resultOf = async (client: HostClient, tool: string, args: object = {}): Promise<unknown> => {
  const { result } = await client.call(tool, args);
  return (result?.value as { readonly result?: unknown } | undefined)?.result;
};

/** Waits until the host takes no more of what was sent. */
const untilFull = async (client: HostClient): Promise<void> => {
  let last = -1;
  for (let same = 0; same < LOOKS; ) {
    same = client.unsent() === last ? same + 1 : 0;
    last = client.unsent();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

describe.each(HOSTS)("$name", (host) => {
  test("[HOST-3-11] a result of 50 MB arrives whole", async () => {
    await using client = await startHost(host);
    expect(await resultOf(client, "big", { bytes: 50 * MB })).toHaveLength(50 * MB);
    expect(await client.ask("ping")).toMatchObject({ ok: true });
  });

  test("[HOST-3-12] a short answer waits for the long line that is on its way, not for all of them", async () => {
    await using client = await startHost(host);
    client.pauseReading();
    // Together less than makes a host stop reading.
    const long = Array.from({ length: 4 }, () => client.send("execute_tool", callParams("big", { bytes: 3 * MB })));
    await client.until((_, stderr) => (stderr.split("made").length > long.length ? true : undefined));
    const short = client.send("ping");
    // Requests are taken in their order: when this one speaks, the short answer waits behind the long ones.
    client.send("execute_tool", callParams("log"));
    await client.until((_, stderr) => (stderr.includes("looked") ? true : undefined));
    client.resumeReading();
    await Promise.all([...long, short].map(client.answerOf));
    const order = client.lines().map(({ id }) => id ?? "");
    expect(order.slice(0, order.indexOf(short)).filter((id) => long.includes(id)).length).toBeLessThanOrEqual(1);
  });

  test("[HOST-3-11] requests beyond what the parent reads are not read: memory stays bounded", async () => {
    await using client = await startHost(host);
    await client.ask("ping");
    client.pauseReading();
    const text = "x".repeat(MB);
    const ids = client.feed(REQUESTS, "execute_tool", callParams("echo", { text }));
    await untilFull(client);
    client.resumeReading();
    for (const id of ids) expect(await client.answerOf(id)).toMatchObject({ ok: true });
    expect(await resultOf(client, "memory")).toBeLessThan(MOST.get(host) ?? 0);
  });

  test("[HOST-3-11] parts nobody reads are bounded too", async () => {
    await using client = await startHost(host);
    await client.ask("ping");
    client.pauseReading();
    const id = client.send("execute_tool", callParams("flood", { count: PARTS, bytes: 8192 }));
    await untilFull(client);
    client.resumeReading();
    expect(await client.answerOf(id)).toMatchObject({ ok: true });
    expect(client.lines().at(-1)).toMatchObject({ id, ok: true });
    expect(await resultOf(client, "memory")).toBeLessThan(PARTS * 8192);
  });
});
