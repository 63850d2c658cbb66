// A database whose messages are carried by another bus from now on, and back: nothing is lost, and nothing old is sent
// by the million. Readers of events by position notice nothing.

import { createEngine, type Engine } from "@toolplane/engine";
import { noFaults, trimMessages } from "@toolplane/engine/internal";
import {
  appendMessages,
  createMemoryCarrier,
  createTestDatabase,
  ENGINE_TEMPLATE,
  eventually,
  meddle,
  queryTestDatabase,
  type TestDatabase,
  toolUpload,
} from "@toolplane/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";

const EVENT = "cg.v1r4.demo.public.evt.agent.news.tick";

let database: TestDatabase;
const engines: Engine[] = [];
beforeEach(async () => {
  database = await createTestDatabase(ENGINE_TEMPLATE);
});
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await database.drop();
});

const start = async (carrier?: ReturnType<typeof createMemoryCarrier>): Promise<Engine> => {
  const engine = await createEngine({ connection: { connectionString: database.url }, watchdog: false, carrier });
  engines.push(engine);
  return engine;
};

const stop = async (engine: Engine): Promise<void> => {
  engines.splice(engines.indexOf(engine), 1);
  await engine.close();
};

const publish = (engine: Engine, ...payloads: readonly string[]): Promise<void> =>
  engine.bus.publish(payloads.map((payload) => ({ subject: EVENT, headers: { "CG-Note": payload }, payload })));

const count = async (table: string): Promise<number> =>
  Number((await queryTestDatabase(database.url, `select count(*)::int as n from ${table}`))[0]?.n);

const readAll = async (engine: Engine, after: string, project = "demo"): Promise<readonly string[]> =>
  (await engine.events.read(project, after)).map(({ payload }) => payload);

const makeProject = async (engine: Engine): Promise<void> => {
  await engine.projects.createProject({ project_id: "demo", title: "Demo", bootstrap: false }, "sys.test");
  await engine.tools.upsertTool("demo", toolUpload({ name: "safe", options: { retry: "safe" } }));
};

test("[ARCH-6-9] positions of events stay valid across both changes; old events are not sent, new ones are", async () => {
  const postgres = await start();
  await makeProject(postgres);
  const begin = "0-0";
  await publish(postgres, "a", "b");
  await eventually(async () => (await postgres.events.read("demo", begin)).length === 2);
  const [first] = await postgres.events.read("demo", begin);
  await stop(postgres);

  const carrier = createMemoryCarrier();
  const external = await start(carrier);
  await publish(external, "c", "d");
  await eventually(() => carrier.accepted.length === 2);
  expect(carrier.accepted.map(({ payload }) => payload)).toEqual(["c", "d"]);
  await eventually(async () => (await count("bus.messages")) === 0);
  expect(await count("bus.sent_events")).toBe(4);
  await eventually(async () => (await readAll(external, begin)).join("") === "abcd");
  expect(await readAll(external, first?.position ?? "")).toEqual(["b", "c", "d"]);
  // The position also says which transactions were open when it was read.
  expect((await external.events.read("demo", begin))[0]).toMatchObject({ ...first, position: expect.any(String) });
  // What waits when the process goes is still in the log, and leaves with the next.
  carrier.away(true);
  await publish(external, "e");
  await eventually(async () => (await readAll(external, begin)).join("") === "abcde");
  await stop(external);

  const back = await start();
  await publish(back, "f");
  await eventually(async () => (await readAll(back, begin)).join("") === "abcdef");
  expect(await readAll(back, first?.position ?? "")).toEqual(["b", "c", "d", "e", "f"]);
  expect(await count("bus.messages")).toBe(2);
});

test("[ARCH-6-4] commands that wait when the carrier changes are relayed; when it changes back calls are claimed, and any other is a dead letter", async () => {
  const postgres = await start();
  await makeProject(postgres);
  const ping = { subject: "cg.v1r4.demo.public.cmd.sys.desk.ping", headers: {}, payload: "ping", messageId: "ping-1" };
  // As an earlier version left it.
  await appendMessages(postgres.db, [ping]);
  await stop(postgres);

  const carrier = createMemoryCarrier();
  const external = await start(carrier);
  await eventually(() => carrier.commands.length === 1);
  expect(carrier.commands).toEqual([ping]);
  carrier.away(true);
  const pong = { ...ping, payload: "pong", messageId: "ping-2" };
  await external.bus.publish([pong]);
  const { toolCallId } = await external.calls.dispatch({ projectId: "demo", toolName: "safe", arguments: {} });
  await stop(external);

  const back = await start();
  const [call] = await back.calls.claim({ projectId: "demo", target: "test", holder: "here", max: 1 });
  expect(call?.facts.toolCallId).toBe(toolCallId);
  const [letter] = await back.deadLetters.list("demo");
  expect(letter).toMatchObject({ kind: "message", subject: pong.subject, code: "upstream_unavailable" });
  const replay = (engine: Engine) => engine.deadLetters.replay("demo", letter?.deadLetterId ?? "");
  await expect(replay(back)).rejects.toMatchObject({ code: "conflict" });
  await stop(back);

  const again = createMemoryCarrier();
  await replay(await start(again));
  await eventually(() => again.accepted.some(({ payload }) => payload === "pong"));
});

const TOOLS = [
  { name: "once", options: { retry: "never" } },
  { name: "plain", options: { service: "plain" } },
  { name: "mine", options: { retry: "never", session: "agent" } },
  { name: "slow", options: { retry: "never", concurrency: 1 } },
  { name: "paused", options: { retry: "never" } },
] as const;

test("[ARCH-6-4] [ARCH-6-6] a call that was made while the database carried commands gets one on every bus that comes after it", async () => {
  const first = await start(createMemoryCarrier());
  await makeProject(first);
  for (const tool of TOOLS) await first.tools.upsertTool("demo", toolUpload({ ...tool, target: tool.name }));
  // A service fetches these: later on none of them is new, so no start is a first attach.
  for (const { name } of TOOLS) await first.attach({ projectId: "demo", target: name });
  const ask = async (engine: Engine, toolName: string, notBeforeMs?: number): Promise<string> =>
    (await engine.calls.dispatch({ projectId: "demo", toolName, arguments: {}, notBeforeMs })).toolCallId;
  const given = await ask(first, "once");
  const before = await first.calls.claim({ projectId: "demo", target: "once", holder: "a", max: 1 });
  expect(before.map(({ facts }) => facts.toolCallId)).toEqual([given]);
  await stop(first);

  const postgres = await start();
  await postgres.tools.pauseTool("demo", "paused");
  const ids = await Promise.all(TOOLS.map(({ name }) => ask(postgres, name)));
  await postgres.tools.resumeTool("demo", "paused");
  const later = await ask(postgres, "once", Date.now() + 3_600_000);
  // Given back here, so this one was sent once, long ago.
  await postgres.calls.release({ projectId: "demo", toolCallId: given, leaseId: before[0]?.lease.id ?? "" });
  await stop(postgres);

  const carrier = createMemoryCarrier();
  const again = await start(carrier);
  const sentOf = () => carrier.commands.map(({ headers }) => headers["CG-Tool-Call-Id"]).toSorted();
  await eventually(async () => {
    await again.expire();
    return sentOf().length >= ids.length + 1;
  });
  await again.expire();
  expect(sentOf()).toEqual([given, ...ids].toSorted());
  const { availableAt } = await again.calls.get({ projectId: "demo", toolCallId: later });
  expect(availableAt?.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
});

test("[ARCH-6-4] an engine that starts again with the carrier it had sends what its predecessor left, also events", async () => {
  const first = createMemoryCarrier();
  const engine = await start(first);
  first.away(true);
  await publish(engine, "left");
  await stop(engine);
  const second = createMemoryCarrier();
  await start(second);
  await eventually(() => second.accepted.length === 1);
  expect(second.accepted[0]).toMatchObject({ subject: EVENT, payload: "left", headers: { "CG-Note": "left" } });
});

test("a long log moves in steps, by several processes at once, and is read all the while", async () => {
  const postgres = await start();
  await makeProject(postgres);
  await meddle(database.url, "addManyEvents", [EVENT]);
  await stop(postgres);
  const carriers = [createMemoryCarrier(), createMemoryCarrier()];
  const [one] = await Promise.all(carriers.map((carrier) => start(carrier)));
  const seen = new Set<string>();
  let position = "0-0";
  while (seen.size < 9000) {
    const page = (await one?.events.read("demo", position)) ?? [];
    for (const { payload } of page) seen.add(payload);
    position = page.at(-1)?.position ?? position;
  }
  await eventually(async () => (await count("bus.messages")) === 0);
  expect(await count("bus.sent_events")).toBe(9000);
  expect(carriers.flatMap(({ accepted }) => accepted)).toEqual([]);
});

test("events that have left are forgotten by age, and with their project", async () => {
  const carrier = createMemoryCarrier();
  const engine = await start(carrier);
  await makeProject(engine);
  await publish(engine, "old", "young");
  await eventually(async () => (await count("bus.sent_events")) === 2);
  await meddle(database.url, "ageSentEvent");
  const trimmed = await trimMessages({ db: engine.db, faults: noFaults, carrier: "external" });
  expect(trimmed).toEqual({ commands: 0, events: 0, sentEvents: 1 });
  expect(await count("bus.sent_events")).toBe(1);
  await engine.projects.deleteProject("demo");
  expect(await count("bus.sent_events")).toBe(0);
});

const AGENT = { projectId: "demo", agentId: "helper" };

const makeAgent = async (engine: Engine): Promise<void> => {
  await makeProject(engine);
  await engine.profiles.upsertProfile("demo", { name: "p", worker_target: "pool" });
  await engine.agents.upsertAgent("demo", { agent_id: "helper", profile_name: "p" });
};

const spawn = (engine: Engine) =>
  engine.turns.spawn({ ...AGENT, sourceAgentId: "sys.test", context: { instruction: "go" } });

/** A worker of the pool looks at what is due when it starts. */
const workOn = async (engine: Engine): Promise<void> => {
  expect(await engine.turns.due(["pool"], 10)).toEqual([AGENT]);
  const { work } = await engine.turns.advance({ ...AGENT, workerId: "w", takeWork: true, workerTargets: ["pool"] });
  if (work === undefined) throw new RangeError("there was no work");
  await engine.turns.finish(work, { status: "success", deliverable: "done" });
};

test("[ARCH-6-9] [ARCH-5-Q1] turns that wait for a worker are found on whichever bus the plane has next", async () => {
  const carrier = createMemoryCarrier();
  const external = await start(carrier);
  await makeAgent(external);
  await eventually(() => carrier.durables.size > 0);
  carrier.away(true);
  await spawn(external);
  expect(await count("bus.messages where component = 'agent' and category = 'cmd'")).toBe(1);
  await stop(external);
  const postgres = await start();
  expect(await count("bus.messages where component = 'agent' and category = 'cmd'")).toBe(0);
  await workOn(postgres);
  await spawn(postgres);
  await stop(postgres);
  await workOn(await start(createMemoryCarrier()));
});

test("[ARCH-5-Q1] a database in which an earlier version left wakeups opens, drops them, and its turns go on", async () => {
  const before = await start();
  await makeAgent(before);
  await spawn(before);
  await stop(before);
  // As they were written: claimed by nobody, or by a worker that died with its plane.
  await meddle(database.url, "addOldWakeups");
  const engine = await start();
  expect(await count("bus.messages where category = 'cmd'")).toBe(0);
  await workOn(engine);
});
