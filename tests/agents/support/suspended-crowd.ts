// Many agents suspended at once in one worker process, and all of them resumed: what the process takes for it.

import { readFileSync } from "node:fs";
import type { Engine } from "@toolplane/engine";
import { runTestProgram, withClient } from "@toolplane/testkit";
import { vi } from "vitest";
import { type AgentPlane, POOL } from "./agent-plane.ts";
import type { WorkerProgramConfig } from "./worker-program.ts";

export interface CrowdReport {
  readonly agents: number;
  readonly suspendSeconds: number;
  readonly resumeSeconds: number;
  /** Megabytes of the worker's process: before any turn, while all are suspended, and at its worst. */
  readonly freshMb: number;
  readonly suspendedMb: number;
  readonly peakMb: number;
}

const CHUNK = 500;
/** Each is a transaction of its own under the project's lock: more at once only wait for a connection. */
const AGENTS_AT_ONCE = 8;

const inChunks = async <T>(items: readonly T[], run: (item: T) => Promise<unknown>, size = CHUNK): Promise<void> => {
  for (let start = 0; start < items.length; start += size) await Promise.all(items.slice(start, start + size).map(run));
};

const memoryMb = (pid: number, field: "VmRSS" | "VmHWM"): number => {
  const line = readFileSync(`/proc/${pid}/status`, "utf8")
    .split("\n")
    .find((text) => text.startsWith(field));
  return Number.parseInt(line?.slice(field.length + 1) ?? "", 10) / 1024;
};

const count = (plane: AgentPlane, sql: string): Promise<number> =>
  withClient(plane.t, async (client) => {
    const { rows } = await client.query<{ n: number }>(sql);
    return rows[0]?.n ?? 0;
  });

const countSuspended = (plane: AgentPlane): Promise<number> =>
  count(plane, "select count(*)::int as n from state.heads where status = 'suspended'");

const countEnded = (plane: AgentPlane): Promise<number> =>
  count(plane, "select count(*)::int as n from state.turns where status = 'success'");

/** What autovacuum does by itself within a minute or two; on tables this young the planner only guesses. */
const analyze = (plane: AgentPlane): Promise<unknown> =>
  withClient(plane.t, (client) =>
    client.query("analyze state.inbox, state.turns, state.steps, state.live_calls, state.past_calls, state.heads"),
  );

const settleAll = async (engine: Engine, projectId: string, target: string, agents: number): Promise<void> => {
  for (let settled = 0; settled < agents; ) {
    const leased = await engine.calls.claim({ projectId, target, holder: "crowd", max: 256 }, 5_000);
    if (leased.length === 0) return;
    await Promise.all(
      leased.map(({ facts, lease }) =>
        engine.calls.settle({
          projectId,
          toolCallId: facts.toolCallId,
          actorId: facts.actorId,
          leaseId: lease.id,
          outcome: { given: { status: "success", result: { text: "here you are" } } },
        }),
      ),
    );
    settled += leased.length;
  }
};

export const resumeCrowd = async (plane: AgentPlane, agents: number, waitMs: number): Promise<CrowdReport> => {
  const { engine, projectId } = plane;
  const target = "crowd";
  const patience = { timeout: waitMs, interval: 200 };
  await engine.tools.upsertTool(projectId, {
    tool_name: "wait",
    description: "Somebody answers later",
    target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${target}.wait`,
    after_execution: "suspend",
    parameters: { type: "object", properties: { text: { type: "string" } } },
    options: { retry: "safe" },
  });
  const names = Array.from({ length: agents }, (_, index) => `agent_${index}`);
  await inChunks(names, (name) => plane.agents(name), AGENTS_AT_ONCE);
  const config: WorkerProgramConfig = {
    url: plane.t.database.url,
    pool: POOL,
    concurrency: 64,
    calls: 1,
    toolName: "wait",
    quiet: true,
  };
  await using program = runTestProgram(new URL("./worker-program.ts", import.meta.url), [JSON.stringify(config)]);
  await program.next();
  const freshMb = memoryMb(program.pid, "VmRSS");
  const [some, rest] = [names.slice(0, CHUNK / 2), names.slice(CHUNK / 2)];
  let started = performance.now();
  await inChunks(some, (name) => plane.spawn(name, "wait for somebody"));
  await vi.waitUntil(async () => (await countSuspended(plane)) === some.length, patience);
  await analyze(plane);
  await inChunks(rest, (name) => plane.spawn(name, "wait for somebody"));
  await vi.waitUntil(async () => (await countSuspended(plane)) === agents, patience);
  const suspendSeconds = (performance.now() - started) / 1000;
  const suspendedMb = memoryMb(program.pid, "VmRSS");
  await analyze(plane);
  started = performance.now();
  await settleAll(engine, projectId, target, agents);
  await vi.waitUntil(async () => (await countEnded(plane)) === agents, patience);
  const resumeSeconds = (performance.now() - started) / 1000;
  return { agents, suspendSeconds, resumeSeconds, freshMb, suspendedMb, peakMb: memoryMb(program.pid, "VmHWM") };
};
