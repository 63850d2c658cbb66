// Which gates of a target a claim looks at.
//   LA1. A look begins behind the gate that the project served last, so with more gates than one look reads every tool has its turn.
//   LA2. When all gates of a look are closed, the look goes on behind the last of them, until every gate was seen once. So closed gates never hide an
//        open one.
//   LA3. Where few tools are limited, which is nearly everywhere, one statement reads all gates.

import type { TargetKey } from "../sessions/session-targets.ts";
import type { Queryer } from "../sql/database.ts";
import { PROJECT_GATE } from "./gate.ts";
import { bindPlaces, type GateRow, MOST_GATES, type PlaceRow, READ_WAITING_GATES } from "./gates.sql.ts";
import { behind } from "./plan-passage.ts";

export interface Looked {
  /** `ord` of a row is the place of its target, from 1. */
  readonly seen: readonly GateRow[];
  /** Where the looks that ended these began, to read the same gates again under the lock. */
  readonly places: readonly PlaceRow[];
}

/** More gates of this target are worth a look, if there are more. */
export type GoesOn = (own: readonly GateRow[]) => boolean;

export const lookAtGates = async (db: Queryer, targets: readonly TargetKey[], goesOn: GoesOn): Promise<Looked> => {
  const places = targets.map(({ projectId, target }): PlaceRow => ({ projectId, target, behind: null }));
  const known = places.map(() => new Set<string>());
  const seen: GateRow[] = [];

  /** Notes where the look of a target began; true when it goes on. */
  const note = (index: number, own: readonly GateRow[]): boolean => {
    const place = places[index] as PlaceRow;
    const before = known[index] as Set<string>;
    const began = place.behind ?? own.find(({ gate }) => gate === PROJECT_GATE)?.last_gate ?? "";
    places[index] = { ...place, behind: began };
    const gates = own.flatMap(({ waits, gate }) => (waits ? [gate] : []));
    const isRound = gates.length < MOST_GATES || gates.some((gate) => before.has(gate));
    if (isRound || !goesOn(own)) return false;
    for (const gate of gates) before.add(gate);
    places[index] = { ...place, behind: behind(gates, (gate) => gate, began).at(-1) ?? began };
    return true;
  };

  let left = places.map((_, index) => index);
  while (left.length > 0) {
    const asked = left;
    const rows = await db.query<GateRow>(
      READ_WAITING_GATES,
      bindPlaces(asked.map((index) => places[index] as PlaceRow)),
    );
    const page = rows.map((row) => ({ ...row, ord: (asked[row.ord - 1] ?? 0) + 1 }));
    seen.push(...page);
    const byTarget = Map.groupBy(page, ({ ord }) => ord - 1);
    left = asked.filter((index) => note(index, byTarget.get(index) ?? []));
  }
  return { seen, places };
};
