// What messages about a turn carry: the stamps of the publisher, where a trace came from, when a suspension ends. Each is
// looked at as it is stored, and as a plain NATS client sees it.
// Doors: NATS, in process

import { isRecord, type JsonObject } from "@toolplane/protocol";
import { eventually, meddle } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NatsGround, openNatsGround } from "../carrier/nats-world.ts";
import {
  advance,
  answerAll,
  asking,
  call,
  commit,
  events,
  mustWork,
  startCarriedWorld,
  startTurnWorld,
  type TurnWorld,
} from "./turn-world.ts";

const PARENT = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
const STAMPS = {
  "CG-Timestamp": expect.stringMatching(/^\d{13}$/),
  "CG-Version": "v1r4",
  "CG-Msg-Type": "AgentWakeupPayload",
  "CG-Sender": "toolplane",
};

type Headers = Readonly<Record<string, string>>;
interface Sent {
  readonly subject: string;
  readonly headers: Headers;
}

const isWakeup = ({ subject }: Sent): boolean => subject.endsWith(".wakeup");

/** A child of a fan-out that makes one call and is woken by its result; then it is given back, and rung by a watchdog. */
const walk = async (t: TurnWorld): Promise<void> => {
  await t.engine.turns.spawn(asking(t, { traceparent: PARENT, freshTrace: true }));
  await commit(t, mustWork(await advance(t)), call("safe"));
  await answerAll(t);
  await t.engine.turns.release(mustWork(await advance(t)));
  await meddle(t, "leaveBellsUnheard");
  await t.engine.tendTurns.unheard(10);
};

/** Spawned, answered, given back, rung again. */
const WAKEUPS = 4;

describe("in process", () => {
  test("[UTP-2.1-D1] every wakeup has the four stamps, whoever rings", async () => {
    await using t = await startCarriedWorld();
    await walk(t);
    const sent = await t.rows<Sent>("select subject, headers::json as headers from bus.messages order by id");
    const wakeups = sent.filter(isWakeup);
    expect(wakeups.length).toBeGreaterThanOrEqual(WAKEUPS);
    for (const { headers } of wakeups) expect(headers).toMatchObject(STAMPS);
  });

  test("[UTP-2.5-D1] a child's wakeups, stored rows and commands name the trace it was started from", async () => {
    await using t = await startCarriedWorld();
    await walk(t);
    const sent = await t.rows<Sent>("select subject, headers::json as headers from bus.messages order by id");
    const stored = await t.rows<{ headers: Headers }>("select context_headers::json as headers from state.inbox");
    const [command] = await t.rows<{ headers: Headers }>("select headers::json as headers from state.calls");
    for (const { headers } of [...sent.filter(isWakeup), ...stored, ...(command === undefined ? [] : [command])])
      expect(headers).toMatchObject({ "CG-Parent-Traceparent": PARENT });
    expect(command?.headers.traceparent?.slice(3, 35)).not.toBe(PARENT.slice(3, 35));
  });

  test("[UTP-2.5-D1] a turn of the same trace names it as well; one that starts a trace of its own names none", async () => {
    await using t = await startTurnWorld();
    const parent = await t.engine.turns.spawn(asking(t, { traceparent: PARENT, freshTrace: true }));
    const lineage = { agentId: "helper", agentTurnId: parent.agentTurnId };
    const child = await t.engine.turns.spawn(asking(t, { lineage, sourceAgentId: "sys.pmo" }));
    const root = await t.engine.turns.spawn(asking(t));
    const headersOf = async (agentTurnId: string): Promise<Headers | undefined> =>
      (
        await t.rows<{ headers: Headers }>(
          "select context_headers::json as headers from state.inbox where agent_turn_id = $1",
          [agentTurnId],
        )
      )[0]?.headers;
    expect(await headersOf(child.agentTurnId)).toMatchObject({ "CG-Parent-Traceparent": PARENT });
    expect(await headersOf(root.agentTurnId)).not.toHaveProperty("CG-Parent-Traceparent");
  });

  test("[UTP-10.3-D2] the event of a suspension says until when it may last, also when others are still awaited", async () => {
    await using t = await startTurnWorld({
      tools: [
        { name: "safe", options: { retry: "safe", timeout_seconds: 20, queue_timeout_seconds: 100 } },
        { name: "slow", options: { retry: "safe", timeout_seconds: 500, queue_timeout_seconds: 100 } },
      ],
    });
    await t.engine.turns.spawn(asking(t));
    const before = Date.now();
    await commit(t, mustWork(await advance(t)), call("safe"), call("slow"));
    const [quick] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 });
    if (quick === undefined) throw new RangeError("nothing was leased");
    await t.engine.calls.cancel({ projectId: t.projectId, toolCallId: quick.facts.toolCallId });
    await advance(t);
    const suspended = (await events(t, "state")).filter(({ payload }) => payload.status === "suspended");
    expect(suspended).toHaveLength(2);
    for (const { payload } of suspended) {
      const deadline = Date.parse(String((payload.metadata as JsonObject).resume_deadline));
      expect(deadline - before).toBeGreaterThanOrEqual(599_000);
      expect(deadline - before).toBeLessThan(700_000);
    }
  });
});

describe("as a NATS client sees it", () => {
  let ground: NatsGround;
  beforeAll(async () => {
    ground = await openNatsGround();
  });
  afterAll(() => ground[Symbol.asyncDispose]());

  test("[UTP-2.1-D1] [UTP-2.5-D1] [UTP-10.3-D2] wakeups, commands and the suspension", async () => {
    await using t = await startTurnWorld({ carrier: await ground.carrier() });
    const wire: (Sent & { readonly payload: string })[] = [];
    await ground.bare.listen("cg.v1r4.>", (message) => wire.push(message));
    await walk(t);
    const wakeups = await eventually(() => {
      const heard = wire.filter(isWakeup);
      return heard.length >= WAKEUPS ? heard : undefined;
    });
    for (const { headers } of wakeups ?? [])
      expect(headers).toMatchObject({ ...STAMPS, "CG-Parent-Traceparent": PARENT });
    const command = await eventually(() => wire.find(({ subject }) => subject.includes(".cmd.tool.")));
    expect(command?.headers).toMatchObject({ "CG-Parent-Traceparent": PARENT, "CG-Msg-Type": "ToolCommandPayload" });
    const suspension = await eventually(() => wire.find(({ payload }) => payload.includes("awaiting_tool_result")));
    const { metadata } = JSON.parse(suspension?.payload ?? "{}") as { readonly metadata?: unknown };
    expect(isRecord(metadata) ? metadata.resume_deadline : undefined).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });
});
