// Spawn: a turn is stored and, if its agent is idle, dispatched in the same transaction.
//   The agents' heads are held from before the first read until the commit, so a turn that just ended and one that is just
//   spawned cannot miss each other: one of the two transactions dispatches.
//   A correlation that was used is answered before anything else is read (W-41: duplicates never lease a head).
//   Ids are made with the request: a flush whose answer was lost may run again and finds its own rows.

import { distinctIds, isToolplaneError, showName, ToolplaneError } from "@toolplane/protocol";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { Queryer } from "../sql/database.ts";
import type { Place } from "./agent-bells.ts";
import { announce, type Done, meansOf, type TurnDeps } from "./held-heads.ts";
import type { KeptRow } from "./hold.sql.ts";
import type { KnownAgents } from "./known-agents.ts";
import { type KnownWork, tryTogether } from "./known-work.ts";
import { type LedgerMeans, mergeWrites } from "./ledger.ts";
import { planDispatch } from "./plan-dispatch.ts";
import { type FirstTurnMeans, planFirstTurn, type TakenTurn, takenAt } from "./plan-first-turn.ts";
import { NO_CARD } from "./plan-opening.ts";
import { acceptedOf, type PlannedSpawn, planRepeatedSpawn, planSpawn, spawnedOf } from "./plan-spawn.ts";
import { lookupOf, prepareSpawn, type SpawnItem } from "./prepare-spawn.ts";
import {
  bindLookups,
  type InheritedBox,
  type InheritedCard,
  READ_INHERITED,
  READ_INHERITED_CARDS,
  READ_SPAWN,
  type SpawnFacts,
  type SpawnRow,
} from "./spawn.sql.ts";
import type { AgentKey, EndedKey, SpawnedTurn, SpawnRequest, Work } from "./turn.ts";
import { agentKey } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import {
  commitTurns,
  createTurnWrites,
  NOTHING_WRITTEN,
  type Written,
  writePart,
  writeTurns,
  writtenOf,
} from "./turn-writes.ts";
import { bindAgents, ENSURE_HEADS } from "./turns.sql.ts";

type Outcome = SpawnedTurn | Error;

export interface Spawn {
  readonly coalescer: Coalescer<SpawnItem, SpawnedTurn>;
  /** Refuses what no database is needed to refuse, and mints the ids. */
  prepare(request: SpawnRequest): SpawnItem;
  /** Inside the caller's transaction. */
  within(tx: Queryer, request: SpawnRequest): Promise<SpawnedTurn>;
}

// Batches are capped by bytes, so one long instruction does not hold up many short ones.
const MAX_FLUSH_BYTES = 4 * 1024 * 1024;
const MAX_FLUSH_ITEMS = 64;

const boxesOf = ({ request: { context } }: SpawnItem): readonly string[] =>
  "boxId" in context ? [] : (context.inheritBoxIds ?? []);

const cardsOf = ({ request: { context } }: SpawnItem): readonly string[] | undefined =>
  "boxId" in context ? undefined : context.inheritCardIds;

const busy = (agentId: string): ToolplaneError =>
  new ToolplaneError("agent_busy", `agent ${agentId} is in another turn; try again when it is done`);

const UNIQUE_VIOLATION = "23505";
const OUTPUT_TAKEN = "turns_output";
/** When another transaction holds the head again and again, or it is made and removed, the caller is told to try again. */
const MAX_ROUNDS = 20;

const brokenRule = (error: unknown): string | undefined =>
  isToolplaneError(error) && error.detail?.sqlstate === UNIQUE_VIOLATION ? String(error.detail.constraint) : undefined;

const outputTaken = (): ToolplaneError =>
  new ToolplaneError(
    "conflict",
    "the output box belongs to another turn that is still open: wait for its end, or leave output_box_id out",
  );

interface Taken {
  readonly place: Place;
  readonly turn: TakenTurn | undefined;
}

interface Plans {
  readonly facts: readonly SpawnFacts[];
  readonly plans: readonly (PlannedSpawn | Outcome)[];
}

interface Spawned extends Done, Written {
  readonly outcomes: readonly Outcome[];
}

export interface SpawnDeps extends TurnDeps {
  readonly maxDepth: number;
  readonly known: KnownWork;
  readonly agents: KnownAgents;
  /** Work that was written for a worker in this process, before the worker is told of it. */
  readonly giveBack: (work: Work) => void;
}

export const createSpawn = (deps: SpawnDeps): Spawn => {
  const readFacts = (tx: Queryer, items: readonly SpawnItem[]): Promise<SpawnFacts[]> =>
    tx.query<SpawnFacts>(READ_SPAWN, bindLookups(items.map(lookupOf)));

  /** The cards of the boxes, each once, with their hashes. Throws `not_found` when one of the boxes does not exist. */
  const readInherited = async (tx: Queryer, item: SpawnItem): Promise<ReadonlyMap<string, string>> => {
    const cardIds = cardsOf(item);
    if (cardIds !== undefined) {
      const rows = await tx.query<InheritedCard>(READ_INHERITED_CARDS, [item.request.projectId, distinctIds(cardIds)]);
      return new Map(rows.map(({ card_id, hash }) => [card_id, hash]));
    }
    const boxIds = boxesOf(item);
    if (boxIds.length === 0) return new Map();
    const rows = await tx.query<InheritedBox>(READ_INHERITED, [item.request.projectId, distinctIds(boxIds)]);
    const found = new Map(rows.map((row) => [row.box_id, row]));
    const missing = boxIds.find((boxId) => !found.has(boxId));
    if (missing !== undefined)
      throw new ToolplaneError("not_found", `box ${showName(missing)} does not exist in this project`);
    return new Map(
      boxIds.flatMap((boxId) => {
        const { card_ids = [], hashes = [] } = found.get(boxId) ?? {};
        return card_ids.map((cardId, index) => [cardId, hashes[index] ?? NO_CARD] as const);
      }),
    );
  };

  const planAll = async (
    tx: Queryer,
    items: readonly SpawnItem[],
    facts: readonly SpawnFacts[],
    means: LedgerMeans,
  ): Promise<readonly (PlannedSpawn | Outcome)[]> => {
    const taken = new Set<string>();
    const plans: (PlannedSpawn | Outcome)[] = [];
    for (const [index, item] of items.entries()) {
      const fact = facts[index] as SpawnFacts;
      if (fact.agent_turn_id !== null) {
        plans.push(planRepeatedSpawn(item, fact));
        continue;
      }
      try {
        const plan = planSpawn(item, fact, await readInherited(tx, item), { maxDepth: deps.maxDepth }, means);
        const agent = agentKey(item.request);
        if (plan.row.kind === "ui_action" && (taken.has(agent) || (fact.head?.status ?? "idle") !== "idle"))
          throw busy(item.request.agentId);
        taken.add(agent);
        plans.push(plan);
      } catch (error) {
        if (!(error instanceof ToolplaneError) || error.code === "storage_error") throw error;
        plans.push(error);
      }
    }
    return plans;
  };

  /** The heads are held and what was read is current. An agent's first turn gives it a head; a refused turn does not. */
  const holdAndPlan = async (tx: Queryer, items: readonly SpawnItem[], means: LedgerMeans): Promise<Plans> => {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const facts = await readFacts(tx, items);
      if (facts.some(({ known, steady }) => known && !steady)) continue;
      const plans = await planAll(tx, items, facts, means);
      const without = items.flatMap(({ request }, index) => {
        const plan = plans[index];
        return plan !== undefined && "row" in plan && facts[index]?.known !== true ? [request] : [];
      });
      if (without.length === 0) return { facts, plans };
      await tx.query(ENSURE_HEADS, bindAgents(without));
    }
    throw new ToolplaneError("storage_error", "an agent's head could not be held; try again in a moment");
  };

  /** The rows of one agent's turns, and what happens to the first of them. */
  const dispatchAgent = (
    plans: readonly PlannedSpawn[],
    fact: SpawnFacts,
    reserve: ((agent: AgentKey & { readonly workerTarget: string | null }) => Place | undefined) | undefined,
    means: FirstTurnMeans,
  ) => {
    const waiting = { rows: plans.map(({ row }) => row), ended: [] as readonly EndedKey[], taken: undefined };
    const { head } = fact;
    const [first] = plans;
    if (head === null || first === undefined) return { ...waiting, parts: [] };
    const { projectId, agentId } = first.row;
    const touch = { ...createTurnWrites(), touched: [{ projectId, agentId }] };
    if (head.status !== "idle") return { ...waiting, parts: [touch] };
    const before = planDispatch(head, head.turn_epoch, fact.queue, means);
    if (before.dispatched !== undefined) return { ...waiting, ended: before.ended, parts: before.parts };
    const place = reserve?.({ projectId, agentId, workerTarget: fact.worker_target });
    const begun = planFirstTurn(first, head, place, means);
    return {
      rows: [begun.row, ...plans.slice(1).map(({ row }) => row)],
      ended: before.ended,
      parts: [...before.parts, begun.writes],
      taken: place === undefined ? undefined : { place, turn: begun.taken },
    };
  };

  const writeAll = async (
    { facts, plans }: Plans,
    write: (writes: TurnWrites) => Promise<Written>,
    means: FirstTurnMeans,
    taken?: Taken[],
  ): Promise<Spawned> => {
    const planned = plans.flatMap((plan, index) => ("row" in plan ? [{ plan, fact: facts[index] as SpawnFacts }] : []));
    if (planned.length === 0)
      return { outcomes: plans as readonly Outcome[], ended: [], rang: false, ...NOTHING_WRITTEN };
    const parts: TurnWrites[] = [];
    const ended: EndedKey[] = [];
    const rows = new Map<string, SpawnRow>();
    for (const own of Map.groupBy(planned, ({ plan }) => agentKey(plan.item.request)).values()) {
      const fact = own[0]?.fact as SpawnFacts;
      const reserve = taken === undefined ? undefined : deps.bells.reserve;
      const done = dispatchAgent(
        own.map(({ plan }) => plan),
        fact,
        reserve,
        means,
      );
      if (done.taken !== undefined) taken?.push(done.taken);
      for (const row of done.rows) rows.set(row.agentTurnId, row);
      const acks = own.flatMap(({ plan }) => acceptedOf(plan, rows.get(plan.row.agentTurnId) ?? plan.row, means));
      parts.push(...own.map(({ plan }) => plan.writes), ...acks, ...done.parts);
      ended.push(...done.ended);
    }
    const writes = mergeWrites([...parts, { ...createTurnWrites(), spawned: [...rows.values()] }]);
    const written = await write(writes);
    const outcomes = plans.map((plan) =>
      "row" in plan ? spawnedOf(rows.get(plan.row.agentTurnId) ?? plan.row) : plan,
    );
    return { outcomes, ended, rang: writes.messages.length > 0, ...written };
  };

  const firstMeans = (): FirstTurnMeans => ({ ...meansOf(deps), claimSeconds: deps.claimSeconds });

  const spawnAll = async (
    tx: Queryer,
    items: readonly SpawnItem[],
    write: (writes: TurnWrites) => Promise<Written>,
    taken?: Taken[],
  ): Promise<Spawned> => {
    const means = firstMeans();
    const held = await holdAndPlan(tx, items, means);
    for (const [index, item] of items.entries()) deps.agents.read(item, held.facts[index] as SpawnFacts);
    return writeAll(held, write, means, taken);
  };

  /** The same from memory, in one message; undefined when that cannot be, and nothing was written. */
  const spawnKnown = async (
    items: readonly SpawnItem[],
    taken: Taken[],
    sending: () => Promise<void>,
  ): Promise<Spawned | undefined> => {
    const known = deps.agents.recall(items);
    if (known === undefined) return undefined;
    const means = firstMeans();
    const { facts } = known;
    const plans = await planAll(deps.db, items, facts, means);
    // What is refused is refused by what was read, not by what is remembered.
    if (plans.some((plan) => !("row" in plan))) return undefined;
    let answers: readonly object[][] | undefined;
    const spawned = await writeAll(
      { facts, plans },
      async (writes) => {
        const part = writePart(writes, deps);
        if (part === undefined) return NOTHING_WRITTEN;
        await sending();
        answers = await tryTogether(deps.db, [known.keep(), part]);
        return answers === undefined ? NOTHING_WRITTEN : writtenOf(answers[1] ?? []);
      },
      means,
      taken,
    );
    if (answers === undefined) return undefined;
    const [kept] = answers[0] as KeptRow[];
    const told = taken.splice(0).map(({ place, turn }) => ({ place, turn: turn && takenAt(turn, kept?.now_ms ?? 0) }));
    taken.push(...told);
    return spawned;
  };

  /** Another request took the correlation or the output box in this very moment. */
  const explain = async (item: SpawnItem, error: unknown): Promise<Outcome> => {
    const rule = brokenRule(error);
    if (rule === undefined) throw error;
    const [fact] = await readFacts(deps.db, [item]);
    if (fact !== undefined && fact.agent_turn_id !== null) return planRepeatedSpawn(item, fact);
    if (rule === OUTPUT_TAKEN) return outputTaken();
    throw error;
  };

  const flush = async (items: readonly SpawnItem[]): Promise<readonly Outcome[]> => {
    const taken: Taken[] = [];
    let isSent = false;
    const sending = async (): Promise<void> => {
      await deps.faults.at("spawn:before-commit");
      isSent = true;
    };
    try {
      let spawned = await spawnKnown(items, taken, sending);
      if (spawned === undefined) {
        for (const { place } of taken.splice(0)) place.drop();
        isSent = false;
        spawned = await deps.db.transaction((tx) => {
          const write = async (writes: TurnWrites): Promise<Written> => {
            await sending();
            return commitTurns(tx, writes, deps);
          };
          return spawnAll(tx, items, write, taken);
        });
      }
      await deps.faults.at("spawn:after-commit");
      announce(deps, { ...spawned, why: "work" });
      for (const { place, turn } of taken.splice(0)) {
        if (turn === undefined) continue;
        deps.known.remember(turn.work, turn.known, spawned.version);
        place.take(turn.work);
      }
      return spawned.outcomes;
    } catch (error) {
      const [item, ...others] = items;
      // Several are tried again one by one.
      if (item === undefined || others.length > 0) throw error;
      return [await explain(item, error)];
    } finally {
      for (const { place, turn } of taken) {
        place.drop();
        if (isSent && turn !== undefined) deps.giveBack(turn.work);
      }
    }
  };

  const prepare = (request: SpawnRequest): SpawnItem => prepareSpawn(request, deps.ids, deps.sha256);

  const coalescer = createCoalescer<SpawnItem, SpawnedTurn>({
    flush,
    keyOf: ({ request, correlationId }) => `${agentKey(request)}/${request.sourceAgentId}/${correlationId}`,
    bytesOf: ({ request }) => roughBytes(request, MAX_FLUSH_BYTES),
    maxBytes: MAX_FLUSH_BYTES,
    maxItems: MAX_FLUSH_ITEMS,
  });

  return {
    coalescer,
    prepare,
    async within(tx, request) {
      const item = prepare(request);
      const write = (writes: TurnWrites): Promise<Written> => writeTurns(tx, writes, deps);
      const { outcomes } = await spawnAll(tx, [item], write).catch((error: unknown) => {
        throw brokenRule(error) === OUTPUT_TAKEN ? outputTaken() : error;
      });
      const [outcome] = outcomes;
      if (outcome instanceof Error || outcome === undefined) throw outcome;
      return outcome;
    },
  };
};
