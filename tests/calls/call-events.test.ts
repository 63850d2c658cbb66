// Every call tells of its life on evt.agent.{agent}.call: each phase once, in order, by the statement that makes it true.

import type { CallPhase } from "@toolplane/protocol/agents";
import {
  countStatements,
  createMemoryCarrier,
  createStandingClock,
  dispatchAndClaim,
  eventually,
  letPass,
  meddle,
  resultFor,
  startTestEngine,
  type TestEngine,
  until,
  withClient,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

interface CallEvent {
  readonly tool_call_id: string;
  readonly agent_turn_id: string;
  readonly tool_name: string;
  readonly phase: CallPhase;
  readonly status: string;
  readonly attempt: number;
  readonly at: string;
  readonly error_code?: string;
}

/** An event with exactly the members of the contract, in canonical order; the end of a call that failed names its code. */
const parseCallEvent = (event: CallEvent): CallEvent => {
  expect(Object.keys(event)).toEqual([
    "agent_turn_id",
    "at",
    "attempt",
    ...(event.error_code === undefined ? [] : ["error_code"]),
    "phase",
    "status",
    "tool_call_id",
    "tool_name",
  ]);
  expect(new Date(event.at).toISOString()).toBe(event.at);
  return event;
};

const CLAIM = { target: "test", holder: "service", max: 256 } as const;
const TOOLS = [
  { name: "safe", options: { retry: "safe" } },
  { name: "unsafe", options: { retry: "never" } },
  { name: "risky", options: { approval: "required", retry: "safe" } },
];
const start = (options: Parameters<typeof startTestEngine>[0] = {}) => startTestEngine({ tools: TOOLS, ...options });

/** All events of the project, page after page, each under its own position. */
const readEvents = async (t: TestEngine, limit?: number) => {
  const events: { position: string; subject: string; headers: Readonly<Record<string, string>>; payload: CallEvent }[] =
    [];
  for (let position = "0"; ; position = events.at(-1)?.position ?? position) {
    const page = await t.engine.events.read(t.projectId, position, limit);
    if (page.length === 0) return events;
    events.push(...page.map((event) => ({ ...event, payload: parseCallEvent(JSON.parse(event.payload)) })));
  }
};

const textOf = ({ phase, status, attempt, error_code }: CallEvent): string =>
  [phase, status, attempt, ...(error_code === undefined ? [] : [error_code])].join(" ");

/** `phase status attempt code` of each event of a call. */
const lifeOf = async (t: TestEngine, toolCallId: string) =>
  (await readEvents(t))
    .filter(({ payload }) => payload.tool_call_id === toolCallId)
    .map(({ payload }) => textOf(payload));

const dispatch = (t: TestEngine, toolName = "safe", more: { agentId?: string; idempotencyKey?: string } = {}) =>
  t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {}, ...more });

const claim = (t: TestEngine) => t.engine.calls.claim({ ...CLAIM, projectId: t.projectId });

const claimOne = async (t: TestEngine) => {
  const [leased] = await claim(t);
  if (leased === undefined) throw new RangeError("nothing was claimed");
  return leased;
};

const MADE = "dispatched queued 0";

test("[ENG-events-1] a call that is claimed tells that it was dispatched, leased and settled, in the words of the protocol", async () => {
  await using t = await start();
  const { toolCallId } = await dispatch(t);
  expect(await lifeOf(t, toolCallId)).toEqual([MADE]);
  const leased = await claimOne(t);
  await t.engine.calls.settle(resultFor(leased));
  expect(await lifeOf(t, toolCallId)).toEqual([MADE, "leased running 1", "settled success 1"]);
  const [event] = await readEvents(t);
  expect(event).toMatchObject({
    subject: "cg.v1r4.demo.public.evt.agent.sys_api.call",
    headers: {
      "CG-Project-Id": "demo",
      "CG-Channel-Id": "public",
      "CG-Agent-Id": "sys.api",
      "CG-Turn-Id": leased.facts.agentTurnId,
      "CG-Turn-Epoch": String(leased.facts.turnEpoch),
      "CG-Version": "v1r4",
      "CG-Msg-Type": "AgentCallPayload",
      traceparent: leased.facts.headers.traceparent,
    },
    payload: { agent_turn_id: leased.facts.agentTurnId, tool_name: "safe" },
  });
});

test("[ENG-events-1] a call that is handed over has both events from its one statement", async () => {
  await using t = await start({ clock: createStandingClock() });
  const looks = () => t.engine.calls.stats().claim;
  const claimed = t.engine.calls.claim({ ...CLAIM, projectId: t.projectId }, 60_000);
  await until("its look to be over", () => (looks()?.items ?? 0) > 0 && looks()?.inFlight === 0, 60_000);
  const counted = countStatements([t.engine]);
  const { toolCallId } = await dispatch(t);
  const [leased] = await claimed;
  expect(counted.names().filter((name) => name.startsWith("calls."))).toEqual(["calls.dispatch-fresh"]);
  expect(await lifeOf(t, toolCallId)).toEqual([MADE, "leased running 1"]);
  expect(leased?.facts.toolCallId).toBe(toolCallId);
});

test("[ENG-events-1] a canceled call ends with that, whether it waited or ran, and with nothing after", async () => {
  await using t = await start();
  const waiting = await dispatch(t);
  await t.engine.calls.cancel({ projectId: t.projectId, toolCallId: waiting.toolCallId });
  expect(await lifeOf(t, waiting.toolCallId)).toEqual([MADE, "canceled canceled 0 canceled"]);
  const running = await dispatchAndClaim(t, "safe");
  await t.engine.calls.cancel(running.facts);
  await t.engine.calls.settle(resultFor(running)).catch(() => undefined);
  expect(await lifeOf(t, running.facts.toolCallId)).toEqual([MADE, "leased running 1", "canceled canceled 1 canceled"]);
});

test("[ENG-events-1] a lost or returned lease is told as a retry, and the next lease after it", async () => {
  await using t = await start();
  const lost = await dispatchAndClaim(t, "safe");
  await letPass(t, lost.facts.toolCallId, "lease");
  await t.engine.expire();
  await meddle(t.database.url, "endBackoff");
  await t.engine.calls.settle(resultFor(await claimOne(t)));
  expect(await lifeOf(t, lost.facts.toolCallId)).toEqual([
    MADE,
    "leased running 1",
    "retried queued 1",
    "leased running 2",
    "settled success 2",
  ]);
  const returned = await dispatchAndClaim(t, "unsafe");
  await t.engine.calls.release({ ...returned.facts, leaseId: returned.lease.id });
  await claimOne(t);
  expect(await lifeOf(t, returned.facts.toolCallId)).toEqual([
    MADE,
    "leased running 1",
    "retried queued 1",
    "leased running 1",
  ]);
});

test("[ENG-events-1] a call that is given up ends as dead, with its dead letter", async () => {
  await using t = await start();
  const late = await dispatch(t);
  await letPass(t, late.toolCallId, "queue");
  const unknown = await dispatchAndClaim(t, "unsafe");
  await letPass(t, unknown.facts.toolCallId, "lease");
  await t.engine.expire();
  expect(await lifeOf(t, late.toolCallId)).toEqual([MADE, "dead timeout 0 queue_timeout"]);
  expect(await lifeOf(t, unknown.facts.toolCallId)).toEqual([
    MADE,
    "leased running 1",
    "dead failed 1 outcome_unknown",
  ]);
  // One that merely took too long is not a dead letter.
  const slow = await dispatchAndClaim(t, "safe");
  await letPass(t, slow.facts.toolCallId, "run");
  await t.engine.expire();
  expect(await lifeOf(t, slow.facts.toolCallId)).toEqual([MADE, "leased running 1", "settled timeout 1 tool_timeout"]);
});

test("[ENG-events-1] a person is told to be wanted, and what was decided", async () => {
  await using t = await start();
  const asked = ["dispatched awaiting_approval 0", "approval_wanted awaiting_approval 0"];
  const yes = { projectId: t.projectId, toolCallId: (await dispatch(t, "risky")).toolCallId };
  expect(await lifeOf(t, yes.toolCallId)).toEqual(asked);
  await t.engine.approvals.approve({ ...yes, by: "ann" });
  await t.engine.approvals.approve({ ...yes, by: "ann" });
  await t.engine.calls.settle(resultFor(await claimOne(t)));
  expect(await lifeOf(t, yes.toolCallId)).toEqual([
    ...asked,
    "approval_decided queued 0",
    "leased running 1",
    "settled success 1",
  ]);
  const no = { projectId: t.projectId, toolCallId: (await dispatch(t, "risky")).toolCallId };
  await t.engine.approvals.deny({ ...no, by: "ann" });
  expect(await lifeOf(t, no.toolCallId)).toEqual([
    ...asked,
    "approval_decided failed 0",
    "settled failed 0 approval_denied",
  ]);
});

test("[ENG-events-1] what changes nothing tells nothing: a key used again, a second result, a second cancel", async () => {
  await using t = await start();
  const first = await dispatch(t, "safe", { idempotencyKey: "once" });
  const again = await dispatch(t, "safe", { idempotencyKey: "once" });
  expect(again.toolCallId).toBe(first.toolCallId);
  const leased = await claimOne(t);
  await t.engine.calls.settle(resultFor(leased));
  await t.engine.calls.settle(resultFor(leased));
  await t.engine.calls.cancel(leased.facts);
  expect(await lifeOf(t, first.toolCallId)).toEqual([MADE, "leased running 1", "settled success 1"]);
});

test("[ENG-events-2] calls of one moment share a row of the log, and each event is read once under a position of its own", async () => {
  await using t = await start();
  const made = await Promise.all(Array.from({ length: 60 }, () => dispatch(t)));
  const claimed = await claim(t);
  await Promise.all(claimed.map((leased) => t.engine.calls.settle(resultFor(leased))));
  const whole = await readEvents(t);
  expect(whole).toHaveLength(180);
  for (const { toolCallId } of made)
    expect(
      whole.filter(({ payload }) => payload.tool_call_id === toolCallId).map(({ payload }) => textOf(payload)),
    ).toEqual([MADE, "leased running 1", "settled success 1"]);
  const [rows] = await withClient(
    t,
    async (client) => (await client.query("select count(*)::int as n from bus.messages")).rows,
  );
  expect(rows?.n).toBeLessThan(30);
  // A reader that leaves after any event continues with the next one.
  expect(new Set(whole.map(({ position }) => position)).size).toBe(180);
  for (const place of [0, 17, 59, 60, 130]) {
    const rest = await t.engine.events.read(t.projectId, whole[place]?.position ?? "", 1000);
    expect(rest.map(({ payload }) => payload)).toEqual(
      (await t.engine.events.read(t.projectId, "0", 1000)).slice(place + 1).map(({ payload }) => payload),
    );
  }
});

test("[ENG-events-3] with a bus beside the database every event leaves as a message, once, under an id of its own", async () => {
  const carrier = createMemoryCarrier();
  await using t = await start({ carrier });
  const made = await Promise.all(Array.from({ length: 10 }, () => dispatch(t)));
  const claimed = await claim(t);
  await Promise.all(claimed.map((leased) => t.engine.calls.settle(resultFor(leased))));
  const events = () => carrier.accepted.filter(({ subject }) => subject.endsWith(".call"));
  await eventually(() => events().length >= 30);
  expect(new Set(events().map(({ messageId }) => messageId)).size).toBe(30);
  expect(events()[0]?.subject).toBe("cg.v1r4.demo.public.evt.agent.sys_api.call");
  const phases = events().map(({ payload }) => parseCallEvent(JSON.parse(payload)));
  for (const { toolCallId } of made)
    expect(phases.filter(({ tool_call_id }) => tool_call_id === toolCallId).map(textOf)).toEqual([
      MADE,
      "leased running 1",
      "settled success 1",
    ]);
  // They stay in the log: a reader by position sees no difference.
  await eventually(async () => (await readEvents(t)).length === 30);
});

test("[ENG-events-4] events go by their own age, not with the call, and with their project", async () => {
  await using t = await start();
  const leased = await dispatchAndClaim(t, "safe");
  await t.engine.calls.settle(resultFor(leased));
  await t.engine.retain({ seconds: 0 });
  expect(await t.engine.calls.find([leased.facts])).toEqual([]);
  expect(await lifeOf(t, leased.facts.toolCallId)).toHaveLength(3);
  await t.engine.projects.deleteProject(t.projectId, { force: true });
  const [rows] = await withClient(
    t,
    async (client) => (await client.query("select count(*)::int as n from bus.messages")).rows,
  );
  expect(rows?.n).toBe(0);
});
