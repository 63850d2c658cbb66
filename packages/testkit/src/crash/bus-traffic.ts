// Messages of a crash run. Without a bus beside the database events are published into the log; with one the
// engine's relay carries the outbox to it, and it keeps nothing when its process dies and sometimes loses its answer.

import type { BusMessage } from "@toolplane/bus";
import type { AgentKey, Engine } from "@toolplane/engine";
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

/** Every so many publishes the scripted bus stores the messages and fails to say so. */
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
  // Commands are carried where there is a bus for them.
  const kinds: readonly string[] = engine.carried === undefined ? ["event"] : ["event", "command"];
  const published = new Set(journal.lines().flatMap((line) => (line.what === "published" ? [line.message] : [])));
  for (const item of items) {
    if (!kinds.includes(item.kind) || published.has(item.id)) continue;
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
