// Tables and journal side by side: what every check looks things up in.

import type { JournalLine } from "../crash/journal.ts";
import { groupBy } from "./findings.ts";
import type { CallRow, CardRow, Tables } from "./tables.ts";

type LineOf<What extends JournalLine["what"]> = Extract<JournalLine, { readonly what: What }>;

export interface CheckOptions {
  /** Who carries messages: with `postgres` events stay in the log, with `external` nothing may stay. */
  readonly carrier?: "postgres" | "external" | undefined;
  /** Projects whose settled calls may have been deleted by retention, with everything about them. */
  readonly forgotten?: readonly string[] | undefined;
  /** False where no consumer wrote the wakeups of agents into the journal; then they are not counted. */
  readonly wakeupsJournaled?: boolean | undefined;
}

export interface Facts {
  readonly tables: Tables;
  readonly carrier: "postgres" | "external";
  readonly forgotten: ReadonlySet<string>;
  readonly wakeupsJournaled: boolean;
  readonly calls: ReadonlyMap<string, CallRow>;
  /** By project and card id. */
  readonly cards: ReadonlyMap<string, CardRow>;
  readonly cardsOfCalls: ReadonlyMap<string, readonly CardRow[]>;
  lines<What extends JournalLine["what"]>(what: What): readonly LineOf<What>[];
}

export const cardName = (card: { readonly project_id: string; readonly card_id: string | null }): string =>
  `${card.project_id}/${card.card_id}`;

export const gatherFacts = (tables: Tables, journal: readonly JournalLine[], options: CheckOptions): Facts => ({
  tables,
  carrier: options.carrier ?? "postgres",
  forgotten: new Set(options.forgotten ?? []),
  wakeupsJournaled: options.wakeupsJournaled ?? true,
  calls: new Map(tables.calls.map((call) => [call.tool_call_id, call])),
  cards: new Map(tables.cards.map((card) => [cardName(card), card])),
  cardsOfCalls: groupBy(tables.cards, (card) => card.tool_call_id ?? ""),
  lines: <What extends JournalLine["what"]>(what: What) =>
    journal.filter((line): line is LineOf<What> => line.what === what),
});
