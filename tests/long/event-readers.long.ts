// Readers of events beside a busy plane: a thousand calls a second for a minute through `toolplane up`, three readers, of which one is
// stopped for twenty seconds and goes on by Last-Event-ID. Each sees every phase of every call once, in order. The figures go to
// docs/records/event-readers.md.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@toolplane/sdk/client";
import { until } from "@toolplane/testkit";
import { request } from "undici";
import { expect, test } from "vitest";
import { startUp } from "../up/up-process.ts";

const SECONDS = Number(process.env.TOOLPLANE_READ_SECONDS ?? 60);
const PER_SECOND = Number(process.env.TOOLPLANE_READ_RATE ?? 1_000);
const AWAY = { from: SECONDS / 3, seconds: SECONDS / 3 };
const TICK_MS = 50;
const PATIENCE_MS = 180_000;
const PHASES = "dispatched,leased,settled";

interface Reader {
  readonly name: string;
  /** The phases of each call, in the order in which they came. */
  readonly phases: Map<string, string[]>;
  settled(): number;
  stop(): Promise<void>;
  resume(): Promise<void>;
}

const openReader = async (name: string, url: string, token: string): Promise<Reader> => {
  const phases = new Map<string, string[]>();
  let settled = 0;
  let lastId: string | undefined;
  let cut = new AbortController();
  let reading: Promise<void> = Promise.resolve();

  const take = (block: string): void => {
    const id = /^id: (.*)$/m.exec(block)?.[1];
    const phase = /"phase":"(\w+)"/.exec(block)?.[1];
    const call = /"tool_call_id":"(\w+)"/.exec(block)?.[1];
    if (id !== undefined) lastId = id;
    if (phase === undefined || call === undefined) return;
    const seen = phases.get(call);
    if (seen === undefined) phases.set(call, [phase]);
    else seen.push(phase);
    if (phase === "settled") settled += 1;
  };

  const open = async (): Promise<void> => {
    cut = new AbortController();
    const headers = { authorization: `Bearer ${token}`, ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
    const { statusCode, body } = await request(`${url}/projects/demo/events?kind=call`, {
      headers,
      signal: cut.signal,
      bodyTimeout: 0,
    });
    expect(statusCode).toBe(200);
    reading = (async () => {
      let rest = "";
      for await (const chunk of body.setEncoding("utf8")) {
        const blocks = `${rest}${chunk}`.split("\n\n");
        rest = blocks.pop() ?? "";
        blocks.forEach(take);
      }
    })().catch((error: unknown) => {
      if (!cut.signal.aborted) throw error;
    });
  };

  await open();
  return {
    name,
    phases,
    settled: () => settled,
    async stop() {
      cut.abort();
      await reading;
    },
    resume: open,
  };
};

test("[API-call-events] three readers see every phase of every call once, in order", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "toolplane-readers-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const up = stack.use(startUp({ dataDir, args: ["--demo"] }));
  const url = await up.ready();
  const token = (await up.request("POST", "/tokens", { role: "operator", project_id: "demo" })).body.token as string;
  const client = connect({ url, token, project: "demo" });
  stack.defer(() => client.close());
  const readers: Reader[] = [];
  for (const name of ["steady", "second", "stopped"]) readers.push(await openReader(name, url, token));
  for (const reader of readers) stack.defer(() => reader.stop());
  const [, , stopped] = readers as [Reader, Reader, Reader];

  const made: Promise<unknown>[] = [];
  const failed: unknown[] = [];
  const began = performance.now();
  const away = (async () => {
    await delay(AWAY.from * 1_000);
    await stopped.stop();
    const missed = stopped.settled();
    await delay(AWAY.seconds * 1_000);
    await stopped.resume();
    return missed;
  })();
  while (performance.now() - began < SECONDS * 1_000) {
    const due = Math.floor(((performance.now() - began) / 1_000) * PER_SECOND);
    for (let one = made.length; one < due; one++)
      made.push(client.call("echo", { n: one }, { wait: 120 }).catch((error: unknown) => failed.push(error)));
    await delay(TICK_MS);
  }
  await Promise.all(made);
  const tookSeconds = (performance.now() - began) / 1_000;
  const before = await away;
  await until(
    "every reader has seen every call",
    () => readers.every((reader) => reader.settled() >= made.length),
    PATIENCE_MS,
  );
  const caughtUpSeconds = (performance.now() - began) / 1_000;
  expect(failed).toEqual([]);
  for (const { name, phases } of readers) {
    const wrong = [...phases.values()].filter((seen) => seen.join() !== PHASES);
    process.stdout.write(
      `| ${name} | ${phases.size} calls | ${[...phases.values()].reduce((sum, seen) => sum + seen.length, 0)} events | ${wrong.length} calls not in order or not once |\n`,
    );
    expect([name, phases.size, wrong.slice(0, 3)]).toEqual([name, made.length, []]);
  }
  process.stdout.write(
    `| ${made.length} calls in ${tookSeconds.toFixed(1)} s, ${(made.length / tookSeconds).toFixed(0)} calls/s; the stopped reader had ${before} when it left, and all were caught up at ${caughtUpSeconds.toFixed(1)} s |\n`,
  );
});
