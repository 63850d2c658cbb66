// The definition that a service says its code ran under. A result must name a version of its own tool in its own project. When
// no such version exists, the call's own is used instead, because the work was done and must count. Most services name the
// call's own version, and no statement is needed. A call that is pinned takes no result of another version (`pin: strict`), except of one that
// has the same code.

import { isRecord, isStorable, ToolplaneError } from "@toolplane/protocol";
import { bindNamed, FIND_VERSIONS_BY_HASH, type NamedDefinition } from "../registry/known-hashes.sql.ts";
import type { Queryer } from "../sql/database.ts";
import type { CallFacts } from "./call.ts";
import type { Settlement } from "./plan-settlement.ts";
import { bindKeys, READ_PINS } from "./read.sql.ts";
import type { RunnablePins } from "./runnable-pins.ts";
import { EVERY_DEFINITION } from "./served-versions.ts";

const LENGTH_OF_HASH = 64;

interface Said {
  readonly facts: CallFacts;
  readonly hash: string;
}

export interface SaidDeps {
  readonly db: Queryer;
  readonly runnablePins: Pick<RunnablePins, "find">;
}

interface Claimed {
  readonly facts: CallFacts;
  /** Whatever the service says. */
  readonly hash: unknown;
}

/** Why calls take no result of these versions; undefined for one that does, or that has settled. One statement for all, and only if some differ. */
export const findChanged = async (
  { db, runnablePins }: SaidDeps,
  said: readonly (Claimed | undefined)[],
): Promise<readonly (ToolplaneError | undefined)[]> => {
  const none: readonly undefined[] = said.map(() => undefined);
  const others = said.flatMap((item, index) =>
    item === undefined || typeof item.hash !== "string" || item.hash === item.facts.definitionHash
      ? []
      : [{ facts: item.facts, hash: item.hash, index }],
  );
  if (others.length === 0) return none;
  const rows = await db.query<{ ord: number; pin: string }>(READ_PINS, bindKeys(others.map(({ facts }) => facts)));
  const changed: (ToolplaneError | undefined)[] = [...none];
  for (const { ord, pin } of rows) {
    const other = others[ord - 1];
    if (other === undefined) continue;
    const { facts, hash, index } = other;
    // The word for every definition is for claims; it is no version.
    if (hash !== EVERY_DEFINITION && (await runnablePins.find(facts.projectId, [hash])).split(",").includes(pin))
      continue;
    changed[index] = new ToolplaneError(
      "definition_changed",
      `the result of call ${facts.toolCallId} was made under another definition than the one the call is pinned to`,
      { detail: { pinned: pin, served: hash } },
    );
  }
  return changed;
};

const isPossible = (hash: string): boolean => hash.length === LENGTH_OF_HASH && isStorable(hash);

const nameOf = ({ facts, hash }: Said): NamedDefinition => ({
  projectId: facts.projectId,
  toolName: facts.toolName,
  definitionHash: hash,
});

/** The hashes that are not a version of their tool. */
const findFalse = async <Item extends Said>(db: Queryer, said: readonly Item[]): Promise<ReadonlySet<Item>> => {
  const others = said.filter(({ facts, hash }) => hash !== facts.definitionHash);
  const asked = others.filter(({ hash }) => isPossible(hash));
  const rows =
    asked.length === 0 ? [] : await db.query<{ ord: number }>(FIND_VERSIONS_BY_HASH, bindNamed(asked.map(nameOf)));
  const real = new Set(rows.map(({ ord }) => asked[ord - 1]));
  return new Set(others.filter((item) => !real.has(item)));
};

/** The requests in the form in which they are settled; `facts` in the same order. */
export const withTrueDefinitions = async <Request extends Pick<Settlement, "outcome">>(
  db: Queryer,
  requests: readonly Request[],
  facts: readonly (CallFacts | undefined)[],
): Promise<readonly Request[]> => {
  const said = requests.flatMap((request, index) => {
    const known = facts[index];
    const hash = "given" in request.outcome ? request.outcome.given.definitionHash : undefined;
    return known === undefined || hash === undefined ? [] : [{ request, facts: known, hash }];
  });
  const wrong = new Set([...(await findFalse(db, said))].map(({ request }) => request));
  if (wrong.size === 0) return requests;
  return requests.map((request) =>
    wrong.has(request) && "given" in request.outcome
      ? { ...request, outcome: { given: { ...request.outcome.given, definitionHash: undefined } } }
      : request,
  );
};

/** The metadata of a card that a service wrote itself. */
export const withTrueDefinition = async <Card extends { readonly metadata: object }>(
  db: Queryer,
  card: Card,
  facts: CallFacts,
): Promise<Card> => {
  const hash = isRecord(card.metadata) ? card.metadata.definition_hash : undefined;
  if (hash === undefined || hash === facts.definitionHash) return card;
  const isTrue = typeof hash === "string" && (await findFalse(db, [{ facts, hash }])).size === 0;
  return isTrue ? card : { ...card, metadata: { ...card.metadata, definition_hash: facts.definitionHash } };
};
