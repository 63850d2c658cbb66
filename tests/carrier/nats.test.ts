// The engine on a real nats-server: what is claimed in the database leaves the server again, services that only know
// NATS lose nothing to those who do not, and what nobody could handle is a dead letter that can be sent again.

import type { Delivery } from "@toolplane/bus";
import type { Engine } from "@toolplane/engine";
import { HEADERS, isToolplaneError } from "@toolplane/protocol";
import { eventually, resultFor, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type NatsGround, openNatsGround } from "./nats-world.ts";

/** Ends the services of a test that failed: on a closed engine they would ask without end. */
const over = new AbortController();
let ground: NatsGround;
let t: TestEngine;
let other: Engine;
let durable: string;
beforeAll(async () => {
  ground = await openNatsGround();
  t = await startTestEngine({ carrier: await ground.carrier(), watchdog: true });
  other = await t.another({ carrier: await ground.carrier() });
  durable = await t.engine.attach({ projectId: t.projectId, target: "test" });
  await eventually(() => (t.engine.carried?.stats().durables ?? 0) === 2);
});
afterAll(async () => {
  over.abort();
  await t[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const askMany = async (count: number): Promise<readonly string[]> =>
  (
    await Promise.all(
      Array.from({ length: count }, () =>
        t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} }),
      ),
    )
  ).map(({ toolCallId }) => toolCallId);

const untilEmpty = () => eventually(async () => (await ground.held("cmd")) === 0);

/** Claims and settles in the database until the signal. */
const serveHere = async (engine: Engine, signal: AbortSignal, ran: string[]): Promise<void> => {
  while (!signal.aborted && !over.signal.aborted) {
    const request = { projectId: t.projectId, target: "test", holder: "here", max: 8 };
    for (const call of await engine.calls.claim(request, 1_000, signal)) {
      ran.push(call.facts.toolCallId);
      await engine.calls.settle(resultFor(call));
    }
  }
};

/** The same as a service that knows nothing but commands. */
const serveThere = async (
  engine: Engine,
  link: Awaited<ReturnType<NatsGround["carrier"]>>["link"],
  signal: AbortSignal,
  ran: string[],
) => {
  const run = async (command: Delivery): Promise<void> => {
    const payload = JSON.parse(command.payload) as { tool_call_card_id: string };
    try {
      const call = await engine.calls.lease({
        projectId: command.headers[HEADERS.projectId] ?? "",
        toolCallId: command.headers[HEADERS.toolCallId] ?? "",
        agentTurnId: command.headers[HEADERS.turnId] ?? "",
        callCardId: payload.tool_call_card_id,
        holder: "there",
      });
      await command.ack();
      ran.push(call.facts.toolCallId);
      await engine.calls.settle(resultFor(call));
    } catch (error) {
      if (!isToolplaneError(error) || error.code !== "lease_lost") throw error;
      await (error.detail?.status === "queued" ? command.nak(100) : command.ack());
    }
  };
  const source = link.commands(durable);
  while (!signal.aborted && !over.signal.aborted)
    await Promise.all((await source.fetch({ max: 16, waitMs: 200, signal })).map(run));
};

test("[ARCH-6-5] after calls were claimed in the database the stream is empty again, whoever relayed and claimed", async () => {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const ran: string[] = [];
  const read = () => [t.engine, other].map(({ carried }) => carried?.stats());
  const sum = (
    figures: ReturnType<typeof read>,
    pick: (carrier: NonNullable<(typeof figures)[number]>) => number,
  ): number => figures.reduce((total, carrier) => total + (carrier === undefined ? 0 : pick(carrier)), 0);
  const before = read();
  const takenBefore = await ground.taken("cmd");
  // Made before a service waits for them: otherwise their commands would be left out.
  const ids = await askMany(200);
  const serving = [serveHere(t.engine, stopping.signal, ran), serveHere(other, stopping.signal, ran)];
  await eventually(() => ran.length === 200);
  // Commands leave by the relay, also after their calls were claimed.
  await eventually(async () => (await ground.taken("cmd")) - takenBefore >= 200);
  await untilEmpty();
  stopping.abort();
  await Promise.all(serving);
  expect([...ran].sort()).toEqual([...ids].sort());
  const more = (pick: Parameters<typeof sum>[1]): number => sum(read(), pick) - sum(before, pick);
  expect((await ground.taken("cmd")) - takenBefore).toBe(200);
  // NATS may deliver a command twice, and then it is acknowledged twice. An engine that has not heard of the durable yet throws the
  // commands away instead: their calls were claimed. The stream is empty a moment before the engine counts.
  const acknowledged = () => more(({ answered }) => answered.acknowledged);
  await eventually(() => acknowledged() >= 200 || more(({ answered }) => answered.purges) > 0);
  // What a message costs falls with the load: far fewer batches than messages, which are commands and events.
  const published = more(({ relay }) => relay.published);
  expect(published).toBeGreaterThan(200);
  expect(more(({ relay }) => relay.batches)).toBeLessThan(published / 2);
});

test("[ARCH-6-5] a service on NATS beside one in the database: every call runs once, and nothing is left", async () => {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const { link } = await ground.carrier();
  const [here, there]: [string[], string[]] = [[], []];
  const serving = [serveHere(t.engine, stopping.signal, here), serveThere(other, link, stopping.signal, there)];
  const ids: string[] = [];
  for (let round = 0; round < 10; round++) ids.push(...(await askMany(20)));
  await eventually(() => here.length + there.length === 200);
  await untilEmpty();
  stopping.abort();
  await Promise.all(serving);
  expect([...here, ...there].sort()).toEqual([...ids].sort());
});

test("[ARCH-6-5] commands of calls that still wait are left where they are", async () => {
  const ids = await askMany(30);
  const claimed = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "here", max: 10 });
  await eventually(async () => (await ground.held("cmd")) === 20);
  const { link } = await ground.carrier();
  const left: Delivery[] = [];
  await eventually(async () => {
    left.push(...(await link.commands(durable).fetch({ max: 50, waitMs: 200 })));
    return left.length >= 20;
  });
  const taken = claimed.map(({ facts }) => facts.toolCallId);
  expect(left.map(({ headers }) => headers[HEADERS.toolCallId]).sort()).toEqual(
    ids.filter((id) => !taken.includes(id)).sort(),
  );
  await Promise.all(ids.map((toolCallId) => t.engine.calls.cancel({ projectId: t.projectId, toolCallId })));
  await Promise.all(left.map((command) => command.ack()));
  await untilEmpty();
});

test("[ARCH-6-4] what a consumer gives up is a dead letter of its project, and is sent again when it is replayed", async () => {
  const seen: string[] = [];
  await t.engine.carried?.consume(
    { durable: "desk", category: "cmd", pattern: "cg.v1r4.*.*.cmd.sys.desk.>" },
    async (delivery) => {
      seen.push(delivery.payload);
      if (seen.length === 1) await delivery.term("cannot be read");
    },
  );
  const subject = `cg.v1r4.${t.projectId}.public.cmd.sys.desk.ping`;
  await t.engine.bus.publish([{ subject, headers: { "CG-Note": "x" }, payload: "{}", messageId: "m1" }]);
  await eventually(async () => (await t.engine.deadLetters.list(t.projectId)).length > 0);
  const [letter] = await t.engine.deadLetters.list(t.projectId);
  expect(letter).toMatchObject({ kind: "message", subject, code: "terminated", reason: "cannot be read", attempts: 1 });
  await untilEmpty();
  await t.engine.deadLetters.replay(t.projectId, letter?.deadLetterId ?? "");
  await eventually(() => seen.length === 2);
  expect(seen).toEqual(["{}", "{}"]);
  await untilEmpty();
});

test("[API-5-2] a server that lost its disk has streams and durables again, and the calls that waited are run", async () => {
  const [id] = await askMany(1);
  await eventually(async () => (await ground.held("cmd")) >= 1);
  await ground.server.wipe();
  const [second] = await askMany(1);
  await eventually(async () => (await ground.held("cmd").catch(() => 0)) >= 1);
  const { link } = await ground.carrier();
  const commands: Delivery[] = [];
  const fetchOne = () => link.commands(durable).fetch({ max: 1, waitMs: 500 });
  await eventually(async () => commands.push(...(await fetchOne().catch(() => []))) > 0);
  // The lost command is not a lost call: the watchdog publishes it again, sooner or later than the other one comes here, and
  // a service that claims in the database finds it.
  expect([id, second]).toContain(commands[0]?.headers[HEADERS.toolCallId]);
  const claimed = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "here", max: 2 });
  expect(claimed.map(({ facts }) => facts.toolCallId).sort()).toEqual([id, second].sort());
  await Promise.all(claimed.map((call) => t.engine.calls.settle(resultFor(call))));
  await Promise.all(commands.map((command) => command.ack()));
});
