// The streams and durables on the server: made when they are missing, brought to our settings, refused where that cannot
// be done.

import { createNatsBus, openBareNats } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { createCollector } from "@toolplane/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type NatsHarness, openNatsHarness } from "./nats-harness.ts";

const HOUR_NS = 3600 * 1e9;
const TEN_MINUTES_NS = 600 * 1e9;
const COMMANDS = "cg.v1r4.*.*.cmd.*.*.>";
const EVENTS = "cg.v1r4.*.*.evt.*.*.>";
const command = { subject: "cg.v1r4.p1.public.cmd.tool.desk.run", headers: {}, payload: "x" };

let harness: NatsHarness;
let api: (verb: string, body?: unknown) => Promise<Record<string, unknown>>;
beforeAll(async () => {
  harness = await openNatsHarness();
  const bare = await openBareNats({ url: harness.server.url, name: "operator" }, { log: silentLog });
  api = async (verb, body) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const { payload } = await bare.ask(`$JS.API.${verb}`, text, { timeoutMs: 5_000 });
    return JSON.parse(payload) as Record<string, unknown>;
  };
});
afterAll(() => harness.close());
// A consumer that is left makes its stream and its durable again in the next test.
afterEach(() => harness.closeProcesses());
beforeEach(async () => {
  for (const category of ["cmd", "evt"]) await api(`STREAM.DELETE.cg_${category}_v1r4`);
});

test("[ARCH-6-2] missing streams are made: commands of a day, a log of a week, in files", async () => {
  const { bus } = await harness.start();
  await bus.publish([command, { ...command, subject: "cg.v1r4.p1.public.evt.agent.a.task" }]);
  const [commands, events] = [await api("STREAM.INFO.cg_cmd_v1r4"), await api("STREAM.INFO.cg_evt_v1r4")];
  const shared = { storage: "file", discard: "old", duplicate_window: TEN_MINUTES_NS, num_replicas: 1 };
  expect(commands.config).toMatchObject({
    ...shared,
    subjects: [COMMANDS],
    retention: "limits",
    max_age: 24 * HOUR_NS,
  });
  expect(events.config).toMatchObject({
    ...shared,
    subjects: [EVENTS],
    retention: "limits",
    max_age: 7 * 24 * HOUR_NS,
  });
  expect([commands.state, events.state]).toMatchObject([{ messages: 1 }, { messages: 1 }]);
});

test("[ARCH-6-3] stream items and requests are captured by no stream", async () => {
  const { bus } = await harness.start();
  const came = createCollector<string>();
  await bus.publish([command]);
  await bus.subscribeStream("cg.v1r4.*.*.str.>", ({ payload }) => came.push(payload));
  bus.publishStream({ subject: "cg.v1r4.p1.public.str.agent.a.chunk", payload: "live" });
  await came.until(1);
  const names = await api("STREAM.NAMES");
  expect(names.streams).toEqual(["cg_cmd_v1r4"]);
  expect((await api("STREAM.INFO.cg_cmd_v1r4")).state).toMatchObject({ messages: 1 });
});

test("[ARCH-6-62] settings that may be changed are changed; what an operator set beside them stays", async () => {
  const given = { name: "cg_evt_v1r4", subjects: ["cg.v1r4.old.>"], storage: "file", retention: "limits" };
  const made = await api("STREAM.CREATE.cg_evt_v1r4", { ...given, max_age: HOUR_NS, max_bytes: 1_000_000_000 });
  expect(made.error).toBeUndefined();
  const { bus } = await harness.start();
  await bus.publish([{ ...command, subject: "cg.v1r4.p1.public.evt.agent.a.task" }]);
  const { config } = await api("STREAM.INFO.cg_evt_v1r4");
  expect(config).toMatchObject({
    subjects: [EVENTS],
    max_age: 7 * 24 * HOUR_NS,
    duplicate_window: TEN_MINUTES_NS,
    max_bytes: 1_000_000_000,
  });
});

test("[ARCH-6-62] commands in a work queue that an earlier version made are used on", async () => {
  const earlier = { name: "cg_cmd_v1r4", subjects: [COMMANDS], storage: "file", retention: "workqueue" };
  expect((await api("STREAM.CREATE.cg_cmd_v1r4", earlier)).error).toBeUndefined();
  const { bus } = await harness.start();
  await bus.publish([command]);
  expect(await api("STREAM.INFO.cg_cmd_v1r4")).toMatchObject({
    config: { retention: "workqueue", duplicate_window: TEN_MINUTES_NS },
    state: { messages: 1 },
  });
});

test("[ARCH-6-62] settings that cannot be changed are refused by name, and a publisher is told to try later", async () => {
  const wrong = { name: "cg_cmd_v1r4", subjects: [COMMANDS], storage: "memory", retention: "interest" };
  expect((await api("STREAM.CREATE.cg_cmd_v1r4", wrong)).error).toBeUndefined();
  const { bus } = await harness.start();
  const pattern = "cg.v1r4.*.*.cmd.tool.desk.>";
  await expect(bus.ensureDurables([{ durable: "tool_desk", pattern }])).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("retention interest instead of limits and storage memory instead of file"),
  });
  await expect(bus.publish([command])).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("cg_cmd_v1r4"),
  });
});

test("[BUS-11] a durable of commands belongs to one pattern, and no two take the same commands", async () => {
  const { bus } = await harness.start();
  const desk = { durable: "tool_desk", pattern: "cg.v1r4.*.*.cmd.tool.desk.>" };
  await bus.ensureDurables([desk]);
  await bus.ensureDurables([desk, { durable: "tool_shelf", pattern: "cg.v1r4.*.*.cmd.tool.shelf.>" }]);
  for (const other of [
    { ...desk, pattern: "cg.v1r4.*.*.cmd.tool.chair.>" },
    { ...desk, durable: "tool_all" },
    { durable: "all", pattern: "cg.v1r4.*.*.cmd.>" },
  ]) {
    await expect(bus.ensureDurables([other])).rejects.toMatchObject({ code: "conflict" });
    await expect(bus.consume({ ...other, category: "cmd" }, () => {})).rejects.toMatchObject({ code: "conflict" });
  }
});

test("a durable that is there keeps its position and its ack wait when it is only to be there", async () => {
  const { bus } = await harness.start();
  const desk = { durable: "tool_desk", pattern: "cg.v1r4.*.*.cmd.tool.desk.>" };
  const consumer = await bus.consume({ ...desk, category: "cmd", ackWaitMs: 2_000 }, () => {});
  await bus.ensureDurables([desk]);
  const seconds = async (): Promise<unknown> => {
    const { config } = await api("CONSUMER.INFO.cg_cmd_v1r4.tool_desk");
    return (config as { ack_wait: number }).ack_wait / 1e9;
  };
  expect(await seconds()).toBe(2);
  await consumer.stop();
  await bus.consume({ ...desk, category: "cmd", ackWaitMs: 7_000 }, () => {});
  expect(await seconds()).toBe(7);
});

test("a server without JetStream is said to be one", async () => {
  const { startNats } = await import("@toolplane/testkit");
  const plain = await openNatsHarness(await startNats({ jetStream: false }));
  const { bus } = await plain.start();
  await expect(bus.publish([command])).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("start it with -js"),
  });
  await plain.close();
});

test("all durables of commands are listed, also those of others and more than one page of them", async () => {
  const { bus } = await harness.start();
  const targets = Array.from({ length: 257 }, (_, index) => `t${index}`);
  const durables = targets.map((target) => ({
    durable: `tool_${target}`,
    pattern: `cg.v1r4.*.*.cmd.tool.${target}.>`,
  }));
  await bus.ensureDurables(durables);
  const theirs = { durable_name: "theirs", ack_policy: "explicit", filter_subject: "cg.v1r4.*.*.cmd.sys.other.>" };
  await api("CONSUMER.DURABLE.CREATE.cg_cmd_v1r4.theirs", { stream_name: "cg_cmd_v1r4", config: theirs });
  const listed = await bus.commandDurables();
  expect(listed).toEqual(expect.arrayContaining([...durables, { durable: "theirs", pattern: theirs.filter_subject }]));
  await bus.dropDurable("tool_t0");
  expect((await bus.commandDurables()).map(({ durable }) => durable)).not.toContain("tool_t0");
});

test("[NATS-SEC-2] another plane's durables are not used, dropped or listed, unless they are taken over", async () => {
  const desk = { durable: "tool_desk__demo", pattern: "cg.v1r4.demo.*.cmd.tool.desk.>" };
  const { link, bus: unmarked } = await harness.start();
  const open = (plane: string) => createNatsBus({ link, bury: async () => {}, log: silentLog, plane });
  const [ours, theirs] = [open("ours"), open("theirs")];
  await theirs.ensureDurables([desk]);
  const isThere = async () => (await unmarked.commandDurables()).some(({ durable }) => durable === desk.durable);
  await expect(ours.ensureDurables([desk])).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("belongs to another plane (theirs)"),
  });
  expect((await ours.commandDurables()).map(({ durable }) => durable)).not.toContain(desk.durable);
  await ours.dropDurable(desk.durable);
  expect(await isThere()).toBe(true);
  expect(await ours.takeOver()).toContain(desk.durable);
  await ours.ensureDurables([desk]);
  await theirs.dropDurable(desk.durable);
  expect(await isThere()).toBe(true);
  await ours.dropDurable(desk.durable);
  expect(await isThere()).toBe(false);
});

test("[ARCH-6-62] a stream of somebody else that takes our subjects is a conflict, with what to do", async () => {
  const { bus } = await harness.start();
  await api("STREAM.CREATE.theirs", { name: "theirs", subjects: ["cg.v1r4.*.*.evt.>"], retention: "limits" });
  await expect(bus.ensureDurables([])).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("another stream of this NATS account"),
  });
  await api("STREAM.DELETE.theirs");
});
