// The record of a story: every card and every event of every turn, in an order that does not depend on who was quicker,
// with ids and hashes replaced by the number of their first appearance, and without times and durations. Two runs of one story have
// equal records.
//   While a turn waits for several calls it says so each time some of them arrive; how many arrive together is chance.
//   Such repeated states of one epoch count as one.

import { isRecord } from "@toolplane/protocol";
import { queryTestDatabase } from "@toolplane/testkit";
import { STORY_CARDS, STORY_EVENTS, STORY_TURNS } from "./story-record.sql.ts";

/** UUIDs with and without dashes, hashes, trace and span ids; also inside longer ids such as `turn_...`. */
const CHANGING = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,64}/g;
/** Two things that happened in the same millisecond have the same time by chance: times have no names. */
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
/** Servers of a test take any free port. */
const PORTS = /(127\.0\.0\.1):\d+/g;
const DURATIONS = /"([a-z_]*_ms|ts)":\d+(\.\d+)?/g;

const still = (text: string): string =>
  text.replace(DURATIONS, '"$1":0').replace(TIMES, "<time>").replace(PORTS, "$1:port");

interface Names {
  /** Ids by their numbers; new ones get the next. */
  name(text: string): string;
  /** Sorted by what does not change between runs; ids get their numbers afterwards. */
  inOrder(texts: readonly string[]): readonly string[];
}

const createNames = (): Names => {
  const names = new Map<string, string>();
  const known = (text: string): string => still(text).replace(CHANGING, (found) => names.get(found) ?? "#");
  return {
    name: (text) =>
      still(text).replace(CHANGING, (found) => {
        const name = names.get(found) ?? `<${names.size + 1}>`;
        names.set(found, name);
        return name;
      }),
    inOrder: (texts) =>
      texts
        .map((text) => ({ text, key: known(text) }))
        .toSorted((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1))
        .map(({ text }) => text),
  };
};

interface CardRow {
  readonly type: string;
  readonly agent_turn_id: string | null;
  readonly step_id: string | null;
  readonly body: string;
}

interface TurnRow {
  readonly agent_turn_id: string;
  readonly status: string;
  readonly error_code: string | null;
  readonly step_count: number;
  readonly recursion_depth: number;
  readonly instruction: string;
}

interface EventRow {
  readonly subject: string;
  readonly payload: string;
}

const instructionOf = ({ instruction }: TurnRow): string => {
  const card: unknown = JSON.parse(instruction);
  return isRecord(card) && isRecord(card.content) ? String(card.content.text) : "";
};

const byInstruction = (a: TurnRow, b: TurnRow): number => (instructionOf(a) < instructionOf(b) ? -1 : 1);

const stateKey = ({ subject, payload }: EventRow): string | undefined => {
  const event = JSON.parse(payload) as { status?: string; turn_epoch?: number };
  return subject.endsWith(".state") && event.status === "suspended" ? `suspended ${event.turn_epoch}` : undefined;
};

/** Of the repeated "still waiting" states of one epoch the first stays. */
const withoutRepeats = (events: readonly EventRow[]): readonly EventRow[] => {
  const seen = new Set<string>();
  return events.filter((event) => {
    const key = stateKey(event);
    if (key === undefined) return true;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
};

const query = async <Row>(url: string, text: string, projectId: string): Promise<readonly Row[]> =>
  (await queryTestDatabase(url, text, [projectId])) as unknown as readonly Row[];

export interface StoryRecord {
  readonly turns: readonly string[];
  readonly cards: readonly string[];
  readonly events: readonly string[];
}

export const readStory = async (url: string, projectId: string): Promise<StoryRecord> => {
  const turns = (await query<TurnRow>(url, STORY_TURNS, projectId)).toSorted(byInstruction);
  const cards = await query<CardRow>(url, STORY_CARDS, projectId);
  const events = await query<EventRow>(url, STORY_EVENTS, projectId);
  const { name, inOrder } = createNames();
  const record = { turns: [] as string[], cards: [] as string[], events: [] as string[] };
  for (const turn of turns) {
    const { agent_turn_id: id } = turn;
    const { status, error_code, step_count, recursion_depth } = turn;
    record.turns.push(name(`${instructionOf(turn)} ${id}: ${status} ${error_code} ${step_count} ${recursion_depth}`));
    const own = cards.filter((card) => card.agent_turn_id === id);
    const steps = Map.groupBy(own, (card) => card.step_id ?? "");
    for (const step of [...steps.keys()].sort())
      record.cards.push(...inOrder((steps.get(step) ?? []).map((card) => card.body)).map(name));
    const said = withoutRepeats(events.filter(({ payload }) => payload.includes(id)));
    for (const { subject, payload } of said) record.events.push(name(`${subject} ${payload}`));
  }
  const rest = cards.filter((card) => card.agent_turn_id === null).map((card) => card.body);
  record.cards.push(...inOrder(rest).map(name));
  return record;
};
