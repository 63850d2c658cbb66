// Sections 1, 2.1, 2.2, 2.6 and 6.4 of the protocol as a plain NATS client hears them: every message of a turn with one
// call, in the order it was published, and the streams they are kept in.
// Doors: NATS

import { HEADERS, parseSubject } from "@toolplane/protocol";
import { eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type NatsGround, openNatsGround } from "../carrier/nats-world.ts";
import {
  addAgent,
  advance,
  answerAll,
  call,
  commit,
  startTurnWorld,
  type TurnWorld,
  takeTurn,
} from "../turns/turn-world.ts";

interface Heard {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

const TRACE = "0123456789abcdef0123456789abcdef";
const TOPOLOGY = [
  HEADERS.recursionDepth,
  HEADERS.stepId,
  HEADERS.toolCallId,
  HEADERS.parentAgentId,
  HEADERS.parentTurnId,
  HEADERS.parentStepId,
];

let ground: NatsGround;
let t: TurnWorld;
let commands: readonly Heard[];
let doorbells: readonly Heard[];
let events: readonly Heard[];
let parentTurnId: string;

/** A turn that another agent's turn asked for: one call, its result, its end. */
const walk = async (): Promise<void> => {
  await addAgent(t, "asker");
  const asker = await takeTurn(t, { agentId: "asker" });
  parentTurnId = asker.agentTurnId;
  const lineage = { agentId: "asker", agentTurnId: asker.agentTurnId };
  const traced = { traceparent: `00-${TRACE}-0123456789abcdef-01`, tracestate: "vendor=1" };
  const work = await takeTurn(t, { agentId: "helper", lineage, ...traced });
  await commit(t, work, call("ender"));
  await answerAll(t);
  await advance(t);
};

beforeAll(async () => {
  ground = await openNatsGround();
  t = await startTurnWorld({ carrier: await ground.carrier() });
  const heard: Heard[] = [];
  await ground.bare.listen("cg.>", (message) => heard.push(message));
  await walk();
  await eventually(() => heard.find(({ subject }) => subject.endsWith(".helper.task")));
  commands = heard.filter(({ subject }) => subject.includes(".cmd.tool."));
  doorbells = heard.filter(({ subject }) => subject.endsWith(".wakeup"));
  events = heard.filter(({ subject }) => subject.includes(".evt."));
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

test("[UTP-1.1-1] [UTP-1.1-4] [UTP-1.4-F1] [UTP-1.4-F2] [UTP-1.4-F6] [UTP-1.4-F7] [UTP-1.4-F8] every subject is one of the protocol's", () => {
  const families = [...commands, ...doorbells, ...events].map(({ subject }) => {
    const { version, category, component, target, suffix } = parseSubject(subject);
    return [version, category, component, target, suffix].join(".");
  });
  const of = (agent: string) => ["task", "step", "state", "call"].map((kind) => `v1r4.evt.agent.${agent}.${kind}`);
  const known = ["v1r4.cmd.tool.test.ender", "v1r4.cmd.agent.pool_a.wakeup", ...of("asker"), ...of("helper")];
  expect(families.filter((family) => !known.includes(family))).toEqual([]);
  expect(known.filter((family) => !families.includes(family))).toEqual([
    "v1r4.evt.agent.asker.task",
    "v1r4.evt.agent.asker.step",
    "v1r4.evt.agent.asker.call",
  ]);
});

test("[UTP-2.6-1] [UTP-2.6-2] [UTP-2.2-4] [UTP-6.4-1] a command has the whole topology, and its subject's project and channel", () => {
  expect(commands).toHaveLength(1);
  const [{ subject, headers, payload }] = commands as readonly [Heard];
  const { projectId, channelId } = parseSubject(subject);
  expect(headers).toMatchObject({
    [HEADERS.projectId]: projectId,
    [HEADERS.channelId]: channelId,
    [HEADERS.agentId]: "helper",
    [HEADERS.turnId]: expect.stringMatching(/./),
    [HEADERS.turnEpoch]: "1",
    [HEADERS.recursionDepth]: "1",
    [HEADERS.stepId]: expect.stringMatching(/./),
    [HEADERS.toolCallId]: expect.stringMatching(/./),
    [HEADERS.parentAgentId]: "asker",
    [HEADERS.parentTurnId]: parentTurnId,
    tracestate: "vendor=1",
  });
  expect(Object.keys(JSON.parse(payload) as object).sort()).toEqual([
    "after_execution",
    "tool_call_card_id",
    "tool_name",
  ]);
});

test("[UTP-2.6-3] [UTP-2.6-1] doorbells and events say whose turn it is, and nothing of the topology", () => {
  const messages = [...doorbells, ...events];
  for (const { subject, headers } of messages) {
    expect([subject, TOPOLOGY.filter((name) => name in headers)]).toEqual([subject, []]);
    expect(headers).toMatchObject({
      [HEADERS.projectId]: "demo",
      [HEADERS.channelId]: "public",
      [HEADERS.agentId]: expect.stringMatching(/^(asker|helper)$/),
      [HEADERS.turnEpoch]: expect.stringMatching(/^\d+$/),
    });
  }
});

test("[UTP-2.1-1] [UTP-2.2-1] [UTP-2.6-4] [UTP-2.1-7] every message has a trace and its own stamps; no header is empty", () => {
  const names = new Set<string>([...Object.values(HEADERS), "Nats-Msg-Id"]);
  for (const { subject, headers } of [...commands, ...doorbells, ...events]) {
    expect([subject, Object.keys(headers).filter((name) => !names.has(name))]).toEqual([subject, []]);
    expect([subject, Object.values(headers).filter((value) => value === "")]).toEqual([subject, []]);
    expect(headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
    expect(headers).toMatchObject({
      [HEADERS.version]: "v1r4",
      [HEADERS.timestamp]: expect.stringMatching(/^\d{13}$/),
    });
  }
  const types = new Set([...commands, ...doorbells, ...events].map(({ headers }) => headers[HEADERS.msgType]));
  expect(types.size).toBeGreaterThan(3);
  expect(types).not.toContain(undefined);
});

test("[UTP-2.5-6] [UTP-2.5-10] the whole turn is one trace; the row's span is a child of the request's", () => {
  const ofHelper = [...commands, ...doorbells, ...events].filter(
    ({ headers }) => headers[HEADERS.agentId] === "helper",
  );
  expect(new Set(ofHelper.map(({ headers }) => headers.traceparent?.slice(3, 35)))).toEqual(new Set([TRACE]));
  expect(ofHelper.map(({ headers }) => headers.traceparent)).not.toContain(`00-${TRACE}-0123456789abcdef-01`);
});

test.each([
  ["cmd", 24],
  ["evt", 7 * 24],
])("[UTP-1.3-1] [UTP-1.3-2] the stream of %s keeps its filter for %i hours", async (category, hours) => {
  const answer = await ground.bare.ask(`$JS.API.STREAM.INFO.cg_${category}_v1r4`, "", { timeoutMs: 5_000 });
  const { config } = JSON.parse(answer.payload) as { config: { subjects: string[]; max_age: number } };
  expect(config.subjects).toEqual([`cg.v1r4.*.*.${category}.*.*.>`]);
  expect(config.max_age / 3_600e9).toBe(hours);
});
