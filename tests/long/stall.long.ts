// One tenant throws every document of the corpus at a real server while another works: the longest pause of the server's
// event loop, the pauses of each document, and what became of the other tenant's calls. The figures go to
// docs/records/event-loop.md.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { guardProgram, programEnv, startModelServer, until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type Attacker, createAttacker, type Thrown } from "../stall/attacker.ts";
import { HOSTILE } from "../stall/corpus.ts";
import { HEAVY } from "../stall/heavy.ts";
import { makePlace } from "../up/data.ts";
import { startUp, type UpProcess } from "../up/up-process.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(`../stall/programs/${name}`, import.meta.url));
const SOURCE = ["--no-warnings", "--conditions=source"];
const BASELINE_MS = 30_000;
const TARGET_MS = 250;
/** Eight documents at a time: what several of them cost may fall into one turn of the loop. */
const AT_ONCE_MS = 500;
/** On a machine with more to do than this before the run, how long a pause lasted says more about the others. */
const QUIET_LOAD = 1;

interface Pause {
  readonly at: number;
  readonly ms: number;
  /** How much of it the loop's thread was running. */
  readonly cpu: number;
}

interface Neighbour {
  readonly calls: number;
  readonly heartbeats: number;
  readonly settled: number;
  readonly slowestCallMs: number;
  readonly slowestHeartbeatMs: number;
  readonly slowestLiveMs: number;
  readonly faults: readonly string[];
}

interface Row {
  readonly name: string;
  readonly kb: number;
  readonly answer: string;
  readonly took: number;
  readonly pause: Pause;
}

const NONE: Pause = { at: 0, ms: 0, cpu: 0 };
const now = (): number => performance.timeOrigin + performance.now();
const longest = (pauses: readonly Pause[]): Pause => pauses.reduce((a, b) => (b.ms > a.ms ? b : a), NONE);

const readPauses = (file: string, from: number, to: number): readonly Pause[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Pause)
    .filter(({ at, ms }) => at + ms >= from && at <= to);

const makeTenant = async (up: UpProcess, project: string) => {
  await up.request("POST", "/projects", { project_id: project, title: project });
  const token = async (body: object): Promise<string> =>
    (await up.request("POST", "/tokens", { project_id: project, ...body })).body.token;
  return {
    project,
    operator: await token({ role: "operator" }),
    service: await token({ role: "tool", targets: ["test", "nobody"] }),
  };
};

const startNeighbour = async (url: string, tenant: Awaited<ReturnType<typeof makeTenant>>) => {
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
  return async (): Promise<Neighbour> => {
    child.stdin.end();
    await over;
    return JSON.parse(said) as Neighbour;
  };
};

const sizeOf = (item: Thrown): number =>
  "text" in item
    ? item.text.length
    : JSON.stringify(item.parameters).length + (item.door === "call" ? JSON.stringify(item.arguments).length : 0);

const describeAnswer = ({ status, body }: { status: number; body: unknown }): string => {
  const { error, status: word } = (body ?? {}) as { error?: { code?: string }; status?: unknown };
  return `${status} ${error?.code ?? (typeof word === "string" ? word : "")}`.trim();
};

/** What is asked, with the pauses that began while it was. A moment before and after belongs to nobody. */
const measure = async (file: string, name: string, kb: number, ask: () => Promise<string>): Promise<Row> => {
  await delay(50);
  const from = now();
  const answer = await ask().catch((error: unknown) => String(error));
  const took = now() - from;
  await delay(150);
  return { name, kb, answer, took, pause: longest(readPauses(file, from, now())) };
};

const throwAll = async (attacker: Attacker, file: string, items: readonly Thrown[]): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (const item of items) {
    const ask = await attacker.prepare(item);
    const size = Math.round(sizeOf(item) / 1000);
    const row = await measure(file, `${item.door}: ${item.name}`, size, async () => describeAnswer(await ask()));
    rows.push(row);
    process.stdout.write(`${line(row)}\n`);
  }
  return rows;
};

const line = ({ name, kb, answer, took, pause }: Row): string =>
  `| ${name} | ${kb} | ${answer} | ${took.toFixed(0)} | ${pause.ms} | ${pause.cpu} |`;
const HEAD =
  "| document | kB | answer | ms to answer | longest pause, ms | of it running, ms |\n|---|---|---|---|---|---|";

test("[STALL-6] the longest pause of the event loop under hostile documents, and the neighbour's calls", async () => {
  await using place = await makePlace();
  const file = join(place.root, "pauses");
  writeFileSync(file, "");
  let modelSays = "{}";
  await using model = await startModelServer(() => ({ toolCalls: [{ id: "c", name: "open", arguments: modelSays }] }));
  const command = ["node", ...SOURCE, pathOf("heavy-host.ts")];
  const host = { name: "heavy", command, user: "inherit", limits: { hello_ms: 30_000, startup_ms: 60_000 } };
  writeFileSync(
    join(place.root, "toolplane.yaml"),
    JSON.stringify({ project: "hostile", hosts: [host], egress: { allow: [model.origin] } }),
  );
  const probe = `--no-warnings --import=${pathOf("loop-probe.ts")}`;
  const env = { NODE_OPTIONS: probe, TOOLPLANE_TEST_PAUSES: file };
  await using up = startUp({ dataDir: place.dataDir, cwd: place.root, env });
  const url = await up.ready();

  const [good, bad] = [await makeTenant(up, "good"), await makeTenant(up, "hostile")];
  const sample = {
    tool_name: "sample",
    parameters: { type: "object", properties: { a: { type: "string" } } },
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.run",
    after_execution: "suspend",
  };
  await up.request("POST", "/projects/good/tools", sample);
  const tellModel = (text: string): void => {
    modelSays = text;
  };
  const attacker = await createAttacker({ url, ...bad, tellModel });
  const profile = { name: "thinker", worker_target: "worker_generic", allowed_tools: ["open"] };
  const llm = { model: "small", api_base: model.url, stream: false };
  await up.request("POST", "/projects/hostile/profiles", { ...profile, llm_config: llm });
  await up.request("POST", "/projects/hostile/profiles", { ...profile, name: "idler", worker_target: "nobody" });
  for (const name of ["thinker", "idler"])
    await up.request("POST", "/projects/hostile/agents", { agent_id: name, profile: name });
  const hosts = async () => (await up.request("GET", "/projects/hostile/hosts")).body.items;
  await until("the host to be ready", async () => JSON.stringify(await hosts()).includes("answer"), 60_000);

  // The first model that is asked has its library loaded, once in the life of the process.
  const [firstStep] = HEAVY.filter(({ door }) => door === "step");
  const [first] = await throwAll(attacker, file, firstStep === undefined ? [] : [firstStep]);

  const load = [loadavg()];
  const stopNeighbour = await startNeighbour(url, good);
  await delay(3_000);
  const began = now();
  await delay(BASELINE_MS);
  const baseline = longest(readPauses(file, began, now()));
  process.stdout.write(`baseline ${JSON.stringify(baseline)} load ${loadavg()[0]}\n${HEAD}\n`);

  const items: readonly Thrown[] = [...HOSTILE, ...HEAVY];
  const rows = [...(await throwAll(attacker, file, items))];
  for (const { name, read } of attacker.reads) {
    const row = await measure(file, `read: ${name}`, 0, async () => describeAnswer(await read()));
    rows.push(row);
    process.stdout.write(`${line(row)}\n`);
  }
  load.push(loadavg());
  const all = await measure(file, "all at once, eight at a time", 0, async () => {
    const left = [...items].filter(({ door }) => door !== "step");
    const work = async (): Promise<void> => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await (await attacker.prepare(item))();
    };
    await Promise.allSettled(Array.from({ length: 8 }, work));
    return "";
  });
  process.stdout.write(`${line(all)}\n`);
  load.push(loadavg());

  const neighbour = await stopNeighbour();
  const summary = { documents: items.length, cpus: cpus().length, load, baseline, first, neighbour };
  process.stdout.write(`${JSON.stringify({ ...summary, neighbour: { ...neighbour, late: undefined } })}\n`);
  const byLength = rows.toSorted((a, b) => b.pause.ms - a.pause.ms);
  const byWork = rows.toSorted((a, b) => b.pause.cpu - a.pause.cpu);
  for (const worst of [byLength, byWork]) process.stdout.write(`${HEAD}\n${worst.slice(0, 10).map(line).join("\n")}\n`);
  expect(neighbour.faults).toEqual([]);
  expect(neighbour.calls).toBeGreaterThan(50);
  expect(rows.filter(({ answer }) => answer.startsWith("5"))).toEqual([]);
  expect(byWork[0]?.pause.cpu).toBeLessThan(TARGET_MS);
  expect(all.pause.cpu).toBeLessThan(AT_ONCE_MS);
  const isQuiet = (load[0]?.[0] ?? 0) < QUIET_LOAD;
  if (isQuiet) expect(byLength[0]?.pause.ms).toBeLessThan(TARGET_MS);
});
