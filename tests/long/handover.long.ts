// Server and service are killed 40 times while callers, server and service are three processes over HTTP and calls are handed over
// at birth. Half of the servers end themselves at a point of the hand-over, everything else dies at a moment that chance chooses.
// Every key has one call, every call one result, and a tool that may not run twice did not. The counts go to
// docs/records/engine-crash.md.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type Plane, ToolplaneError } from "@toolplane/sdk/client";
import {
  checkWhenQuiet,
  createChance,
  NOTHING_FOUND,
  openJournal,
  readJournal,
  readTables,
  runTestProgram,
  startTestEngine,
  type TestProgram,
  until,
} from "@toolplane/testkit";
import { expect, test } from "vitest";
import { A_SEED } from "../crash/seed.ts";

const KILLS = 40;
const CALLERS = 4;
/** Answers from one kill to the next. */
const PROGRESS = 20;
const LONGEST_PAUSE_MS = 200;
const PATIENCE_MS = 120_000;

const POINTS = [
  "dispatch:after-commit",
  "handover:before-telling",
  "handover:after-telling",
  "settle:before-commit",
  "settle:after-commit",
];

/** How a call of each tool may end; one that may not run again ends unknown when its service died. */
const ENDS = { safe: ["success"], unsafe: ["success", "outcome_unknown", "lease_lost"] } as const;

const program = (name: string, args: readonly string[]): TestProgram =>
  runTestProgram(new URL(`../crash/programs/${name}.ts`, import.meta.url), args);

test("40 SIGKILLs of server and service on the handed-over path: nothing lost, doubled or stuck", async () => {
  const started = performance.now();
  const chance = createChance(A_SEED);
  await using t = await startTestEngine();
  const place = mkdtempSync(join(tmpdir(), "toolplane-handover-"));
  const path = join(place, "journal.ndjson");
  const journal = openJournal(path);
  const tool = await t.engine.tokens.create({ role: "tool", projectId: "demo", targets: ["test"] });
  const operator = await t.engine.tokens.create({ role: "operator", projectId: "demo" });

  const startServer = async (port: number, deadly: string) => {
    const server = program("exchange-server", [t.database.url, String(port), deadly]);
    return { ...server, ...((await server.next()) as { port: number }) };
  };
  let server = await startServer(0, "");
  const { port } = server;
  const url = `http://127.0.0.1:${port}`;
  const startService = async (): Promise<TestProgram> => {
    const service = program("journaling-service", [url, tool.secret, path]);
    await service.next();
    return service;
  };
  let service = await startService();

  let answers = 0;
  let items = 0;
  const over = new AbortController();
  const ask = async (plane: Plane, n: number): Promise<void> => {
    const name = n % 2 === 0 ? "safe" : "unsafe";
    const key = `item-${n}`;
    journal.write({ what: "asked", item: key });
    for (;;) {
      try {
        expect(await plane.call(name, { n }, { key, wait: 60 })).toEqual({ n });
        break;
      } catch (error) {
        if (!(error instanceof ToolplaneError)) throw error;
        // The client in doubt names the key; the plane's own outcome_unknown is an end.
        if (error.code === "outcome_unknown" && error.detail?.idempotency_key !== undefined) continue;
        if (error.callId !== undefined && (ENDS[name] as readonly string[]).includes(error.code)) break;
        // The server is away: the same key asks for the same call.
        expect(["upstream_unavailable", "still_running", "upstream_timeout"]).toContain(error.code);
      }
    }
    answers++;
  };
  const callers = Array.from({ length: CALLERS }, async () => {
    const plane = connect({ url, token: operator.secret, project: "demo" });
    while (!over.signal.aborted) await ask(plane, items++);
    await plane.close();
  });
  const all = Promise.all(callers);

  for (let kill = 0; kill < KILLS; kill++) {
    const enough = answers + PROGRESS;
    const point = kill % 4 === 0 ? POINTS[chance.between(0, POINTS.length - 1)] : undefined;
    if (point !== undefined) {
      // A server that ends itself: the one before it makes room.
      await server.kill();
      server = await startServer(port, point);
      await Promise.race([all, server.exited]);
      server = await startServer(port, "");
      continue;
    }
    await until("answers", () => answers >= enough, PATIENCE_MS);
    await delay(chance.between(0, LONGEST_PAUSE_MS));
    if (kill % 2 === 0) {
      await server.kill();
      server = await startServer(port, "");
    } else {
      await service.kill();
      service = await startService();
    }
  }
  over.abort();
  await all;
  const findings = await checkWhenQuiet({ databaseUrl: t.database.url, journal: path }, PATIENCE_MS);
  const { calls, keys } = await readTables(t.database.url);
  const matched = calls.filter((call) => call.matched === true).length;
  const effects = readJournal(path).filter((line) => line.what === "effect").length;
  const seconds = Math.round((performance.now() - started) / 1000);
  const unknown = calls.filter(({ status }) => status !== "success").length;
  process.stdout.write(
    `\n${calls.length} calls, ${matched} handed over at birth, ${effects} runs, ${KILLS} kills, ${unknown} ended unknown, ${seconds} s\n`,
  );
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  journal.close();
  rmSync(place, { recursive: true });
  expect(findings).toEqual(NOTHING_FOUND);
  expect(keys.length).toBe(items);
  expect(calls.length).toBe(items);
  expect(matched).toBeGreaterThan(KILLS);
});
