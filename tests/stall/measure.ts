// What the long tests of the event loop measure with: a server with a probe inside, another tenant at work, and the pauses that
// began while something was asked.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { guardProgram, programEnv } from "@toolplane/testkit";
import type { UpProcess } from "../up/up-process.ts";

export const pathOf = (name: string): string => fileURLToPath(new URL(`programs/${name}`, import.meta.url));
export const SOURCE = ["--no-warnings", "--conditions=source"];
export const TARGET_MS = 250;

export interface Pause {
  readonly at: number;
  readonly ms: number;
  /** How much of it the loop's thread was running. */
  readonly cpu: number;
}

export interface Neighbour {
  readonly calls: number;
  readonly heartbeats: number;
  readonly settled: number;
  readonly slowestCallMs: number;
  readonly slowestHeartbeatMs: number;
  readonly slowestLiveMs: number;
  readonly faults: readonly string[];
}

export interface Row {
  readonly name: string;
  readonly kb: number;
  readonly answer: string;
  readonly took: number;
  /** The longest by the clock, with the longest running of all of them. */
  readonly pause: Pause;
}

const NONE: Pause = { at: 0, ms: 0, cpu: 0 };
export const now = (): number => performance.timeOrigin + performance.now();

export const longest = (pauses: readonly Pause[]): Pause => {
  const byClock = pauses.reduce((a, b) => (b.ms > a.ms ? b : a), NONE);
  return { ...byClock, cpu: Math.max(0, ...pauses.map(({ cpu }) => cpu)) };
};

export const readPauses = (file: string, from: number, to: number): readonly Pause[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Pause)
    .filter(({ at, ms }) => at + ms >= from && at <= to);

/** What `up` is started with so that its pauses are written into the file. */
export const probeEnv = (file: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--no-warnings --import=${pathOf("loop-probe.ts")}`,
  TOOLPLANE_TEST_PAUSES: file,
});

export interface Tenant {
  readonly project: string;
  readonly operator: string;
  readonly service: string;
}

export const makeTenant = async (up: UpProcess, project: string): Promise<Tenant> => {
  await up.request("POST", "/projects", { project_id: project, title: project });
  const token = async (body: object): Promise<string> =>
    (await up.request("POST", "/tokens", { project_id: project, ...body })).body.token;
  return {
    project,
    operator: await token({ role: "operator" }),
    service: await token({ role: "tool", targets: ["test", "nobody"] }),
  };
};

export const startNeighbour = async (url: string, tenant: Tenant): Promise<() => Promise<Neighbour>> => {
  const child = spawn(process.execPath, [...SOURCE, pathOf("neighbour.ts")], {
    env: {
      ...programEnv(),
      STALL_URL: url,
      STALL_PROJECT: tenant.project,
      STALL_CALLER: tenant.operator,
      STALL_SERVICE: tenant.service,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  await guardProgram(child, "the neighbour");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const over = new Promise((resolve) => child.once("close", resolve));
  return async () => {
    child.stdin.end();
    await over;
    return JSON.parse(said) as Neighbour;
  };
};

/** What is asked, with the pauses that began while it was. A moment before and after belongs to nobody. */
export const measure = async (file: string, name: string, kb: number, ask: () => Promise<string>): Promise<Row> => {
  await delay(50);
  const from = now();
  const answer = await ask().catch((error: unknown) => String(error));
  const took = now() - from;
  await delay(150);
  const row = { name, kb, answer, took, pause: longest(readPauses(file, from, now())) };
  process.stdout.write(`${line(row)}\n`);
  return row;
};

export const describeAnswer = ({ status, body }: { status: number; body: unknown }): string => {
  const { error, status: word } = (body ?? {}) as { error?: { code?: string }; status?: unknown };
  return `${status} ${error?.code ?? (typeof word === "string" ? word : "")}`.trim();
};

export const line = ({ name, kb, answer, took, pause }: Row): string =>
  `| ${name} | ${kb} | ${answer} | ${took.toFixed(0)} | ${pause.ms} | ${pause.cpu} |`;
export const HEAD =
  "| document | kB | answer | ms to answer | longest pause, ms | of it running, ms |\n|---|---|---|---|---|---|";
