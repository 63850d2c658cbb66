// Published messages were delivered, messages in the outbox have left, and a message that was given up is a dead letter, once.

import type { Facts } from "./facts.ts";
import { type Found, groupBy } from "./findings.ts";

/** Failures that a person must be able to find and try again. */
const BURIED: ReadonlySet<string> = new Set(["outcome_unknown", "queue_timeout", "upstream_unavailable"]);

const checkDelivered = (facts: Facts): Found => {
  // Without a bus beside the database a message is there for its readers as long as it is in the log.
  const handled = new Set(
    facts.carrier === "postgres"
      ? facts.tables.messages.map(({ message_id: id }) => id)
      : facts.lines("handled").map(({ message }) => message),
  );
  return facts
    .lines("published")
    .filter(({ message }) => !handled.has(message))
    .map(({ message }) => ["lost", `message ${message} was published and nobody got it`]);
};

/** Ids of events are made of what they report: the same one twice is a thing told twice. */
const checkToldOnce = (facts: Facts): Found => {
  const named = facts.tables.messages.filter(({ category, message_id }) => category === "evt" && message_id !== null);
  return [...groupBy(named, ({ message_id }) => message_id ?? "")].flatMap(
    ([id, rows]): Found => (rows.length === 1 ? [] : [["doubled", `${id} was told ${rows.length} times`]]),
  );
};

const checkLeft = (facts: Facts): Found => {
  const waiting = facts.tables.messages.filter(({ category }) => facts.carrier === "external" || category === "cmd");
  return waiting.map(({ id, subject }) => ["unsent", `message ${id} to ${subject} has not left`] as const);
};

/**
 * At least one bell for a turn and one for its results; the engine decides which are rung together. Without a bus beside the
 * database bells are not messages: there the inbox rows are the queue, and they are checked with the turns.
 */
const checkRung = (facts: Facts): Found => {
  if (facts.carrier === "postgres") return [];
  const wakeups = facts.lines("handled").filter(({ subject }) => subject.endsWith(".wakeup")).length;
  const settledTurns = new Set(
    facts.tables.calls.filter((call) => !call.headless && call.settled).map((call) => call.agent_turn_id),
  );
  const wanted = facts.tables.turns.length + settledTurns.size;
  return wakeups < wanted ? [["unsent", `agents had to be rung ${wanted} times, ${wakeups} wakeups arrived`]] : [];
};

const checkBuried = (facts: Facts): Found => {
  const letters = facts.tables.deadLetters.filter(({ kind }) => kind === "call");
  const ofCalls = groupBy(letters, (letter) => letter.tool_call_id ?? "");
  const found: (readonly ["lost" | "doubled" | "orphaned", string])[] = [];
  for (const call of facts.tables.calls) {
    const count = ofCalls.get(call.tool_call_id)?.length ?? 0;
    const wanted = BURIED.has(call.error_code ?? "") ? 1 : 0;
    if (count < wanted) found.push(["lost", `call ${call.tool_call_id} was given up without a dead letter`]);
    if (count > wanted) found.push(["doubled", `call ${call.tool_call_id} has ${count} dead letters, not ${wanted}`]);
  }
  for (const letter of letters)
    if (!facts.calls.has(letter.tool_call_id ?? "") && !facts.forgotten.has(letter.project_id))
      found.push(["orphaned", `dead letter ${letter.dead_letter_id} is about no call`]);
  const undelivered = facts.tables.deadLetters.filter(({ kind }) => kind === "message");
  return [
    ...found,
    ...undelivered.map((letter) => ["lost", `message ${letter.dead_letter_id} was given up: ${letter.code}`] as const),
  ];
};

const checkReplays = (facts: Facts): Found => {
  const letters = new Map(facts.tables.deadLetters.map((letter) => [letter.dead_letter_id, letter]));
  const found: (readonly ["lost" | "doubled", string])[] = [];
  for (const { letter: id, call } of facts.lines("replayed")) {
    const letter = letters.get(id);
    if (letter?.replayed_as !== call)
      found.push(["lost", `${id} was replayed as ${call}, says ${letter?.replayed_as}`]);
  }
  const retries = facts.tables.calls.filter((call) => call.retry_of !== null);
  for (const [of, calls] of groupBy(retries, (call) => call.retry_of ?? ""))
    if (calls.length > 1) found.push(["doubled", `call ${of} was tried again by ${calls.length} calls`]);
  return found;
};

export const checkMessages = (facts: Facts): Found => [
  ...checkDelivered(facts),
  ...checkToldOnce(facts),
  ...checkLeft(facts),
  ...(facts.wakeupsJournaled ? checkRung(facts) : []),
  ...checkBuried(facts),
  ...checkReplays(facts),
];
