// One tenant throws every document of the corpus at a real server while another works: the longest pause of the server's
// event loop, the pauses of each document, and what became of the other tenant's calls. The figures go to
// docs/records/event-loop.md.

import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startModelServer, startNats, until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type Attacker, createAttacker, type Thrown } from "../stall/attacker.ts";
import { HOSTILE } from "../stall/corpus.ts";
import { FOR_NATS, HEAVY, LONG_RESULT } from "../stall/heavy.ts";
import {
  describeAnswer,
  HEAD,
  line,
  longest,
  makeTenant,
  measure,
  now,
  pathOf,
  probeEnv,
  type Row,
  readPauses,
  SOURCE,
  startNeighbour,
  TARGET_MS,
} from "../stall/measure.ts";
import { createNatsThrower, type NatsDoor } from "../stall/nats-door.ts";
import { makePlace } from "../up/data.ts";
import { startUp, type UpProcess } from "../up/up-process.ts";

const BASELINE_MS = 30_000;
/** Eight documents at a time: what several of them cost may fall into one turn of the loop. */
const AT_ONCE_MS = 500;
/** On a machine with more to do than this before the run, how long a pause lasted says more about the others. */
const QUIET_LOAD = 1;
/** Small enough that nothing in one event is much. */
const EVENT_CHARS = 200;

const SAMPLE = {
  tool_name: "sample",
  parameters: { type: "object", properties: { a: { type: "string" } } },
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.run",
  after_execution: "suspend",
};

const HOST = {
  name: "heavy",
  command: ["node", ...SOURCE, pathOf("heavy-host.ts")],
  user: "inherit",
  limits: { hello_ms: 30_000, startup_ms: 60_000 },
};

const hostIsReady = (up: UpProcess): Promise<void> => {
  const hosts = async () => (await up.request("GET", "/projects/hostile/hosts")).body.items;
  return until("the host to be ready", async () => JSON.stringify(await hosts()).includes("answer"), 60_000);
};

const sizeOf = (item: Thrown): number =>
  "text" in item
    ? item.text.length
    : JSON.stringify(item.parameters).length + (item.door === "call" ? JSON.stringify(item.arguments).length : 0);

const throwAll = async (attacker: Attacker, file: string, items: readonly Thrown[]): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (const item of items) {
    const ask = await attacker.prepare(item);
    const size = Math.round(sizeOf(item) / 1000);
    rows.push(await measure(file, `${item.door}: ${item.name}`, size, async () => describeAnswer(await ask())));
  }
  return rows;
};

test("[STALL-6] the longest pause of the event loop under hostile documents, and the neighbour's calls", async () => {
  await using place = await makePlace();
  const file = join(place.root, "pauses");
  writeFileSync(file, "");
  let modelSays = "{}";
  await using model = await startModelServer(() => ({
    toolCalls: [{ id: "c", name: "open", arguments: modelSays }],
    chunkChars: EVENT_CHARS,
  }));
  writeFileSync(
    join(place.root, "toolplane.yaml"),
    JSON.stringify({ project: "hostile", hosts: [HOST], egress: { allow: [model.origin] } }),
  );
  await using up = startUp({ dataDir: place.dataDir, cwd: place.root, env: probeEnv(file) });
  const url = await up.ready();

  const [good, bad] = [await makeTenant(up, "good"), await makeTenant(up, "hostile")];
  await up.request("POST", "/projects/good/tools", SAMPLE);
  const tellModel = (text: string): void => {
    modelSays = text;
  };
  const attacker = await createAttacker({ url, ...bad, tellModel });
  const profile = { name: "thinker", worker_target: "worker_generic", allowed_tools: ["open"] };
  const llm = { model: "small", api_base: model.url, stream: false };
  await up.request("POST", "/projects/hostile/profiles", { ...profile, llm_config: llm });
  await up.request("POST", "/projects/hostile/profiles", { ...profile, name: "idler", worker_target: "nobody" });
  const streamed = { ...llm, stream: true };
  await up.request("POST", "/projects/hostile/profiles", { ...profile, name: "streamer", llm_config: streamed });
  for (const name of ["thinker", "idler"])
    await up.request("POST", "/projects/hostile/agents", { agent_id: name, profile: name });
  await hostIsReady(up);

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

  const only = process.env.STALL_ONLY;
  const items: readonly Thrown[] = [...HOSTILE, ...HEAVY].filter(({ door }) => only === undefined || door === only);
  const rows = [...(await throwAll(attacker, file, items))];
  await attacker.askForApproval(16);
  for (const { name, read } of attacker.reads) {
    rows.push(await measure(file, `read: ${name}`, 0, async () => describeAnswer(await read())));
  }
  load.push(loadavg());
  const all = await measure(file, "all at once, eight at a time", 0, async () => {
    const left = [...items].filter(({ door }) => door !== "step" && door !== "stream");
    const work = async (): Promise<void> => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await (await attacker.prepare(item))();
    };
    await Promise.allSettled(Array.from({ length: 8 }, work));
    return "";
  });
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

const NATS_DOORS: readonly NatsDoor[] = ["settle", "exchange", "put_card", "report", "parts", "register"];

test("[STALL-6] the longest pause under bodies at the gateway on NATS", async () => {
  await using place = await makePlace();
  const file = join(place.root, "pauses");
  writeFileSync(file, "");
  // As deploy/nats has it.
  await using nats = await startNats({ config: "max_payload: 8MB" });
  const env = { ...probeEnv(file), TOOLPLANE_NATS_URL: nats.url };
  await using up = startUp({ dataDir: place.dataDir, cwd: place.root, env });
  const url = await up.ready();
  const [good, bad] = [await makeTenant(up, "good"), await makeTenant(up, "hostile")];
  for (const { project } of [good, bad]) await up.request("POST", `/projects/${project}/tools`, SAMPLE);
  await using thrower = await createNatsThrower(url, nats.port, bad);
  const stopNeighbour = await startNeighbour(url, good);
  await delay(3_000);
  process.stdout.write(`${HEAD}\n`);
  const rows: Row[] = [];
  for (const door of NATS_DOORS)
    for (const [name, text] of FOR_NATS) {
      const ask = await thrower.prepare(door, text);
      rows.push(await measure(file, `nats ${door}: ${name}`, Math.round(text.length / 1000), ask));
    }
  const all = await measure(file, "nats: all at once, eight at a time", 0, async () => {
    const left = NATS_DOORS.flatMap((door) => FOR_NATS.map(([, text]) => ({ door, text })));
    const work = async (): Promise<void> => {
      for (let item = left.pop(); item !== undefined; item = left.pop())
        await (await thrower.prepare(item.door, item.text))();
    };
    await Promise.allSettled(Array.from({ length: 8 }, work));
    return "";
  });
  const neighbour = await stopNeighbour();
  process.stdout.write(`${JSON.stringify({ documents: rows.length, load: loadavg(), neighbour })}\n`);
  const byWork = rows.toSorted((a, b) => b.pause.cpu - a.pause.cpu);
  process.stdout.write(`${HEAD}\n${byWork.slice(0, 5).map(line).join("\n")}\n`);
  expect(neighbour.faults).toEqual([]);
  expect(rows.filter(({ answer }) => !/^[24]/.test(answer))).toEqual([]);
  expect(byWork[0]?.pause.cpu).toBeLessThan(TARGET_MS);
  expect(all.pause.cpu).toBeLessThan(AT_ONCE_MS);
});

const AGENTS = 8;
const STEPS = 4;
const CALLS = 60;
/** Two megabytes of the arguments of a step are called; the rest is refused. */
const ARGUMENT = "x".repeat(200_000);

const OVER: ReadonlySet<unknown> = new Set(["success", "failed", "stopped", "timeout"]);

/** The most memory that the process has had. */
const peakMb = (pid: number): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);

test("[STALL-9] heavy steps of several agents, and the same turns continued after a crash", async () => {
  await using place = await makePlace();
  const file = join(place.root, "pauses");
  writeFileSync(file, "");
  const call = (index: number) => ({
    id: `c${index}`,
    name: "heavy__answer",
    arguments: { document: LONG_RESULT.name, as: ARGUMENT },
  });
  await using model = await startModelServer(({ messages }) => {
    const steps = messages.filter(({ role }) => role === "assistant").length;
    return steps < STEPS ? { toolCalls: Array.from({ length: CALLS }, (_, index) => call(index)) } : { text: "done" };
  });
  writeFileSync(
    join(place.root, "toolplane.yaml"),
    JSON.stringify({ project: "hostile", hosts: [HOST], egress: { allow: [model.origin] } }),
  );
  const options = { dataDir: place.dataDir, cwd: place.root, env: probeEnv(file) };
  const turns: string[] = [];
  const views = (up: UpProcess) =>
    Promise.all(turns.map(async (turn) => (await up.request("GET", `/projects/hostile/turns/${turn}`)).body));
  const stepsOf = async (up: UpProcess): Promise<number> =>
    (await views(up)).reduce((sum, { step_count }) => sum + Number(step_count), 0);
  const rows: Row[] = [];
  const peaks: number[] = [];
  process.stdout.write(`${HEAD}\n`);
  {
    await using up = startUp(options);
    await up.ready();
    await hostIsReady(up);
    const profile = { name: "thinker", worker_target: "worker_generic", allowed_tools: ["heavy__answer"] };
    const llm_config = { model: "small", api_base: model.url, stream: false };
    await up.request("POST", "/projects/hostile/profiles", { ...profile, llm_config });
    // The first model that is asked has its library loaded, once in the life of the process.
    const make = async (agent: string): Promise<void> => {
      await up.request("POST", "/projects/hostile/agents", { agent_id: agent, profile: "thinker" });
      const begun = await up.request("POST", `/projects/hostile/agents/${agent}/turns`, { instruction: "go" });
      turns.push(begun.body.agent_turn_id);
    };
    await make("a0");
    await until("the first step", async () => (await stepsOf(up)) > 0, 120_000);
    rows.push(
      await measure(file, "heavy steps of 8 agents", 0, async () => {
        for (let n = 1; n < AGENTS; n++) await make(`a${n}`);
        await until("half of the steps", async () => (await stepsOf(up)) >= (AGENTS * STEPS) / 2, 300_000);
        return `${await stepsOf(up)} steps`;
      }),
    );
    peaks.push(peakMb(up.pid));
    await up.killGroup();
  }
  {
    await using up = startUp(options);
    await up.ready();
    rows.push(
      await measure(file, "the same turns after a crash", 0, async () => {
        const isOver = async () => (await views(up)).every(({ status }) => OVER.has(status));
        await until("all turns to end", isOver, 600_000);
        return (await views(up)).map(({ status }) => String(status)).join(" ");
      }),
    );
    peaks.push(peakMb(up.pid));
    expect((await views(up)).map(({ status }) => status)).toEqual(Array.from({ length: AGENTS }, () => "success"));
  }
  process.stdout.write(`peak memory, MB: ${peaks.join(", ")}; load ${loadavg().join(" ")}\n`);
  for (const { pause } of rows) expect(pause.cpu).toBeLessThan(TARGET_MS);
});
