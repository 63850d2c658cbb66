// Messages of a crash run. On the postgres bus they are published and consumed; with an external bus the
// engine's relay carries the outbox to one that keeps nothing when its process dies and sometimes loses its answer.

import type { BusMessage, Delivery } from "@toolplane/bus";
import type { AgentKey, Engine, PoolServer } from "@toolplane/engine";
import { HEADERS, ToolplaneError } from "@toolplane/protocol";
import { createMemoryCarrier, type MemoryCarrier } from "../bus/memory-carrier.ts";
import { CRASH_PROJECT, SERVED_TARGET, WORKER_TARGET } from "./crash-seed.ts";
import { insist } from "./insist.ts";
import type { Item } from "./item.ts";
import type { Journal } from "./journal.ts";
import type { CommandRef } from "./service.ts";

export interface TrafficOptions {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly signal: AbortSignal;
}

// A dead consumer's messages are offered again after this; a healthy handler needs a millisecond.
const ACK_WAIT_MS = 1_000;
/** Every so many publishes the scripted bus stores the messages and loses its answer. */
const LOSE_ANSWER_EVERY = 5;
const RELAY_CLAIM_MS = 1_000;
const REPUBLISH_SECONDS = 1;

const subjectOf = (category: "cmd" | "evt", component: string, target: string, suffix: string): string =>
  `cg.v1r4.${CRASH_PROJECT}.public.${category}.${component}.${target}.${suffix}`;

const messageOf = (item: Item): BusMessage => ({
  subject: item.kind === "event" ? subjectOf("evt", "agent", "news", "tick") : subjectOf("cmd", "sys", "desk", "ping"),
  headers: {},
  payload: JSON.stringify({ item: item.id }),
  messageId: item.id,
});

/** Publishes each item until the bus acknowledges it; an acknowledged item is never published again. */
export const publishItems = async (
  { engine, journal, signal }: TrafficOptions,
  items: readonly Item[],
): Promise<void> => {
  const published = new Set(journal.lines().flatMap((line) => (line.what === "published" ? [line.message] : [])));
  for (const item of items) {
    if ((item.kind !== "event" && item.kind !== "command") || published.has(item.id)) continue;
    const done = await insist(async () => {
      await engine.bus.publish([messageOf(item)]);
      return true;
    }, signal);
    if (done === true) journal.write({ what: "published", message: item.id });
  }
};

const agentOf = ({ headers }: BusMessage): AgentKey => ({
  projectId: headers[HEADERS.projectId] ?? "",
  agentId: headers[HEADERS.agentId] ?? "",
});

/** Without a bus beside the database: messages are consumed, and the worker serves its pool. */
export const consumeAll = async ({
  engine,
  journal,
  worker,
}: TrafficOptions & { readonly worker: PoolServer }): Promise<void> => {
  const pattern = (rest: string): string => `cg.v1r4.${CRASH_PROJECT}.*.${rest}`;
  const handle =
    (by: string) =>
    (delivery: Delivery): void => {
      const { messageId, subject, payload } = delivery;
      journal.write({ what: "handled", message: messageId ?? payload, by, subject });
    };
  const consumers = [
    { durable: "audit", category: "evt", pattern: pattern("evt.agent.news.>") },
    { durable: "desk", category: "cmd", pattern: pattern("cmd.sys.desk.>") },
  ] as const;
  for (const consumer of consumers)
    await engine.bus.consume({ ...consumer, ackWaitMs: ACK_WAIT_MS, maxDeliver: 1_000 }, handle(consumer.durable));
  await engine.serveAgents(worker);
};

const commandOf = ({ headers, payload, subject }: BusMessage): CommandRef | undefined => {
  if (!subject.includes(`.cmd.tool.${SERVED_TARGET}.`)) return undefined;
  return {
    projectId: headers[HEADERS.projectId] ?? "",
    toolCallId: headers[HEADERS.toolCallId] ?? "",
    agentTurnId: headers[HEADERS.turnId] ?? "",
    callCardId: (JSON.parse(payload) as { tool_call_card_id: string }).tool_call_card_id,
  };
};

const isWakeup = ({ subject }: BusMessage): boolean => subject.endsWith(`.cmd.agent.${WORKER_TARGET}.wakeup`);

/** An external bus that hands commands straight to the service of this process, and wakeups to its worker. */
export const createCrashCarrier = (
  journal: Journal,
  { offer, ring }: { readonly offer: (command: CommandRef) => void; readonly ring: (agent: AgentKey) => void },
): MemoryCarrier => {
  const seen = new Set<string>();
  let publishes = 0;
  const publish = (messages: readonly BusMessage[]): void => {
    for (const message of messages) {
      const id = message.messageId ?? "";
      if (seen.has(id)) continue;
      seen.add(id);
      journal.write({ what: "handled", message: id, by: "external", subject: message.subject });
      const command = commandOf(message);
      if (command !== undefined) offer(command);
      if (isWakeup(message)) ring(agentOf(message));
    }
    publishes += 1;
    if (publishes % LOSE_ANSWER_EVERY === 0)
      throw new ToolplaneError("upstream_unavailable", "the bus stored the messages and its answer was lost");
  };
  return createMemoryCarrier({ publish, relayClaimMs: RELAY_CLAIM_MS, republishSeconds: REPUBLISH_SECONDS });
};
