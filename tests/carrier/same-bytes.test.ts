// The same walk on both buses: a consumer of commands, doorbells, events and stream items cannot tell which bus
// brought them. Ids are drawn at random and are compared by their shape; the clock stands still.

import { systemClock } from "@toolplane/engine";
import { canonicalText, HEADERS, type JsonValue } from "@toolplane/protocol";
import { toolCommandSubscription, workerWakeupSubscription } from "@toolplane/protocol/agents";
import { createCollector, eventually, resultFor } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asking, call, commit, mustWork, POOL, startTurnWorld, type TurnWorld } from "../turns/turn-world.ts";
import { type NatsGround, openNatsGround } from "./nats-world.ts";

let ground: NatsGround;
beforeAll(async () => {
  ground = await openNatsGround();
});
afterAll(async () => {
  await ground[Symbol.asyncDispose]();
});

const TRACEPARENT = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
const clock = { ...systemClock, now: () => Date.UTC(2026, 0, 2, 3, 4, 5) };

interface Seen {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

/** Byte for byte but for the ids, in an order that does not depend on who came first. */
const shape = (seen: readonly Seen[]): string[] =>
  seen
    .map(({ subject, headers, payload }) => JSON.stringify([subject, headers, payload]))
    .map((text) =>
      text
        .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>")
        .replaceAll(/[0-9a-f]{32}/g, "<id>")
        // On the database's clock, which goes on.
        .replaceAll(/((?:resume_deadline|at)\\":\\")[^\\]+/g, "$1<time>")
        .replaceAll(/(AgentCallPayload.*CG-Timestamp":")\d+/g, "$1<time>")
        .replaceAll(/[0-9a-f]{16}/g, "<span>"),
    )
    .sort();

interface Walk {
  readonly wakeups: readonly Seen[];
  readonly events: readonly Seen[];
  readonly items: readonly Seen[];
  readonly command: Seen;
}

const WAKEUPS = 2;

/** A doorbell as it was before inboxes were the queue. */
const bell = (payload: string): string =>
  JSON.stringify([
    `cg.v1r4.demo.public.cmd.agent.${POOL}.wakeup`,
    {
      "CG-Timestamp": "1767323045000",
      "CG-Version": "v1r4",
      "CG-Msg-Type": "AgentWakeupPayload",
      "CG-Sender": "toolplane",
      traceparent: "00-<id>-<span>-01",
      "CG-Project-Id": "demo",
      "CG-Channel-Id": "public",
      "CG-Agent-Id": "helper",
      "CG-Turn-Id": "turn_<id>",
      "CG-Turn-Epoch": "1",
    },
    payload,
  ]);
const BELLS = [bell('{"inbox_id":"inbox_<id>","reason":"dispatch_next"}'), bell('{"inbox_id":"inbox_<id>"}')];

/** Three of the agent's state, three of the call. */
const EVENTS = 6;

/** A turn that makes one call, whose result wakes it up; everything that was heard of it. */
const walk = async (t: TurnWorld): Promise<Walk> => {
  const { engine } = t;
  const [wakeups, events, items] = [createCollector<Seen>(), createCollector<Seen>(), createCollector<Seen>()];
  const keep =
    (to: typeof events) =>
    ({ subject, headers, payload }: Seen) =>
      to.push({ subject, headers, payload });
  const { durable, pattern } = workerWakeupSubscription(POOL);
  await engine.carried?.consume({ durable, pattern: pattern.text, category: "cmd" }, keep(wakeups));
  const begin = await engine.events.now(t.projectId);
  await engine.carried?.consume({ durable: "audit", pattern: "cg.v1r4.*.*.evt.>", category: "evt" }, keep(events));
  await engine.bus.subscribeStream("cg.v1r4.*.*.str.>", (item) => items.push({ ...item, headers: {} }));
  await engine.turns.spawn(asking(t));
  const advanced = await engine.turns.advance({
    projectId: t.projectId,
    agentId: "helper",
    workerId: "w",
    takeWork: true,
  });
  await commit(t, mustWork(advanced), call("safe", { text: 'Grüße, "Welt" \u2028' }, "call-1"));
  const [leased] = await eventually(() =>
    engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 }),
  );
  if (leased === undefined) throw new RangeError("the call was not offered");
  await engine.emitParts(leased.facts, [{ index: 0, part: { text: "ä\u0007" } }]);
  await engine.calls.settle(resultFor(leased));
  // Without a bus beside the database events are read from the log.
  if (engine.carried === undefined) {
    const logged = () => engine.events.read(t.projectId, begin);
    await eventually(async () => (await logged()).length >= EVENTS);
    for (const event of await logged()) keep(events)(event);
  }
  await Promise.all([engine.carried && wakeups.until(WAKEUPS), events.until(EVENTS), items.until(1)]);
  const { subject, headers, payload } = leased.command;
  return {
    wakeups: wakeups.items,
    events: events.items,
    items: items.items,
    command: { subject, headers, payload: canonicalText(payload as unknown as JsonValue) },
  };
};

test("[ARCH-6-9] commands, events and stream items are the same bytes on both buses, doorbells as they ever were", async () => {
  const carrier = await ground.carrier();
  await using onPostgres = await startTurnWorld({ clock });
  await using onNats = await startTurnWorld({ clock, carrier });
  const wire: Seen[] = [];
  await ground.bare.listen("cg.v1r4.*.*.cmd.>", ({ subject, headers, payload }) => {
    wire.push({ subject, headers, payload });
  });
  const [there, here] = [await walk(onNats), await walk(onPostgres)];
  // Bells are messages where a bus carries them, and nothing else elsewhere. Their bytes are those of every version.
  expect(here.wakeups).toEqual([]);
  expect(shape(there.wakeups)).toEqual(BELLS);
  expect(shape(there.events)).toEqual(shape(here.events));
  expect(shape(there.items)).toEqual(shape(here.items));
  expect(shape([there.command])).toEqual(shape([here.command]));

  // The command as it is on the wire is the one its lease shows: this call, these ids. The transport adds its message id.
  const isCommand = ({ subject }: Seen): boolean => subject === there.command.subject;
  await eventually(() => wire.some(isCommand));
  const sent = wire.find(isCommand);
  const { "Nats-Msg-Id": messageId, ...headers } = sent?.headers ?? {};
  expect(messageId).toMatch(/^demo:outbox-\d+-\d+$/);
  expect({ ...sent, headers }).toEqual(there.command);
  expect(headers[HEADERS.toolCallId]).toMatch(/^[0-9a-f]{32}$/);

  // A message as it is published.
  const came = createCollector<unknown>();
  const { pattern, durable } = toolCommandSubscription("demo", "bytes");
  const message = {
    subject: "cg.v1r4.demo.public.cmd.tool.bytes.run",
    headers: { "CG-Agent-Id": "a", traceparent: TRACEPARENT, "CG-Note": "a  b" },
    payload: '{"text":"\\u0000 \u{1F600} \u2028 é","n":1.0}',
    messageId: "m-1",
  };
  const consume = { durable, pattern: pattern.text, category: "cmd" } as const;
  await onNats.engine.carried?.consume(consume, ({ subject, headers: carried, payload, messageId: id }) => {
    came.push({ subject, headers: carried, payload, messageId: id });
  });
  await onNats.engine.bus.publish([message]);
  expect(await came.until(1)).toEqual([message]);
});
