// Spawn: a turn is written down and, if its agent is idle, dispatched in the same transaction.
//   The agents' heads are held from before the first look until the commit, so a turn that was just ended and one that is
//   just spawned cannot miss each other: one of the two dispatches.
//   A correlation that was used is answered before anything else is looked at (W-41: duplicates never lease a head).
//   Ids are minted with the request: a flush whose answer was lost may run again and finds itself.

import { distinctIds, showName, ToolplaneError } from "@toolplane/protocol";
import { type BoxRow, READ_BOXES } from "../cards/boxes.sql.ts";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { Queryer } from "../sql/database.ts";
import { announce, meansOf, type TurnDeps } from "./held-heads.ts";
import { type LedgerMeans, mergeWrites } from "./ledger.ts";
import { planDispatch, type QueuedRow } from "./plan-dispatch.ts";
import { type PlannedSpawn, planRepeatedSpawn, planSpawn, spawnedOf } from "./plan-spawn.ts";
import { lookupOf, prepareSpawn, type SpawnItem } from "./prepare-spawn.ts";
import { bindLookups, bindSpawn, READ_SPAWN, SPAWN_TURNS, type SpawnFacts } from "./spawn.sql.ts";
import type { AgentKey, SpawnedTurn, SpawnRequest, TurnKey } from "./turn.ts";
import { agentKey, type HeadRow } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { writeTurns } from "./turn-writes.ts";
import { AWAIT_HEADS, bindAgents, ENSURE_HEADS, READ_QUEUED } from "./turns.sql.ts";

type Outcome = SpawnedTurn | Error;

export interface Spawn {
  readonly coalescer: Coalescer<SpawnItem, SpawnedTurn>;
  submit(request: SpawnRequest): Promise<SpawnedTurn>;
  /** Inside the caller's transaction. */
  within(tx: Queryer, request: SpawnRequest): Promise<SpawnedTurn>;
}

// Long instructions travel in small company.
const MAX_FLUSH_BYTES = 4 * 1024 * 1024;
const MAX_FLUSH_ITEMS = 64;

const boxesOf = ({ request: { context } }: SpawnItem): readonly string[] =>
  "boxId" in context ? [] : (context.inheritBoxIds ?? []);

const busy = (agentId: string): ToolplaneError =>
  new ToolplaneError("agent_busy", `agent ${agentId} is in another turn; try again when it is done`);

const distinctAgents = (items: readonly SpawnItem[]): AgentKey[] => [
  ...new Map(items.map(({ request }) => [agentKey(request), request])).values(),
];

interface Written {
  readonly outcomes: readonly Outcome[];
  readonly ended: readonly TurnKey[];
  readonly rang: boolean;
  readonly unrung: number;
}

export const createSpawn = (deps: TurnDeps & { readonly maxDepth: number }): Spawn => {
  const holdHeads = async (tx: Queryer, agents: readonly AgentKey[]): Promise<Map<string, HeadRow>> => {
    const heads = await tx.query<HeadRow>(AWAIT_HEADS, bindAgents(agents));
    return new Map(heads.map((head) => [agentKey({ projectId: head.project_id, agentId: head.agent_id }), head]));
  };

  /** An agent's first turn gives it a head; a turn that is refused gives it none. */
  const makeHeads = async (
    tx: Queryer,
    planned: readonly PlannedSpawn[],
    heads: Map<string, HeadRow>,
  ): Promise<void> => {
    const without = distinctAgents(planned.map(({ item }) => item)).filter((agent) => !heads.has(agentKey(agent)));
    if (without.length === 0) return;
    await tx.query(ENSURE_HEADS, bindAgents(without));
    for (const [name, head] of await holdHeads(tx, without)) heads.set(name, head);
  };

  const readFacts = (tx: Queryer, items: readonly SpawnItem[]): Promise<SpawnFacts[]> =>
    tx.query<SpawnFacts>(READ_SPAWN, bindLookups(items.map(lookupOf)));

  /** Undefined when one of the boxes does not exist. */
  const readInherited = async (tx: Queryer, item: SpawnItem): Promise<readonly string[]> => {
    const boxIds = boxesOf(item);
    if (boxIds.length === 0) return [];
    const rows = await tx.query<BoxRow>(READ_BOXES, [item.request.projectId, distinctIds(boxIds), null]);
    const found = new Map(rows.map((row) => [row.box_id, row.card_ids]));
    const missing = boxIds.find((boxId) => !found.has(boxId));
    if (missing !== undefined)
      throw new ToolplaneError("not_found", `box ${showName(missing)} does not exist in this project`);
    return distinctIds(boxIds.flatMap((boxId) => found.get(boxId) ?? []));
  };

  const planAll = async (
    tx: Queryer,
    items: readonly SpawnItem[],
    heads: ReadonlyMap<string, HeadRow>,
    means: LedgerMeans,
  ): Promise<readonly (PlannedSpawn | Outcome)[]> => {
    const facts = await readFacts(tx, items);
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
        if (plan.row.kind === "ui_action" && (taken.has(agent) || (heads.get(agent)?.status ?? "idle") !== "idle"))
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

  /** Those whose correlation or output box was taken meanwhile learn which. */
  const explain = async (tx: Queryer, plans: readonly PlannedSpawn[]): Promise<readonly Outcome[]> => {
    if (plans.length === 0) return [];
    const facts = await readFacts(
      tx,
      plans.map(({ item }) => item),
    );
    return plans.map(({ item }, index) => {
      const fact = facts[index];
      if (fact !== undefined && fact.agent_turn_id !== null) return planRepeatedSpawn(item, fact);
      return new ToolplaneError("conflict", "the output box belongs to another turn that is still open");
    });
  };

  const dispatchAll = async (
    tx: Queryer,
    begun: readonly PlannedSpawn[],
    heads: ReadonlyMap<string, HeadRow>,
    means: LedgerMeans,
  ) => {
    const idle = [...heads.values()].filter(
      (head) =>
        head.status === "idle" &&
        begun.some(({ row }) => row.projectId === head.project_id && row.agentId === head.agent_id),
    );
    const epochs = new Map<string, number>();
    const parts: TurnWrites[] = [];
    const ended: TurnKey[] = [];
    if (idle.length === 0) return { epochs, parts, ended };
    const keys = idle.map((head) => ({ projectId: head.project_id, agentId: head.agent_id }));
    // The rows of this transaction are among them.
    const queue = Map.groupBy(await tx.query<QueuedRow>(READ_QUEUED, bindAgents(keys)), ({ ord }) => ord);
    for (const [index, head] of idle.entries()) {
      const dispatch = planDispatch(head, head.turn_epoch, queue.get(index + 1) ?? [], means);
      parts.push(...dispatch.parts);
      ended.push(...dispatch.ended);
      if (dispatch.dispatched !== undefined) epochs.set(dispatch.dispatched.agentTurnId, dispatch.dispatched.epoch);
    }
    return { epochs, parts, ended };
  };

  const spawnAll = async (tx: Queryer, items: readonly SpawnItem[]): Promise<Written> => {
    const means = meansOf(deps);
    const heads = await holdHeads(tx, distinctAgents(items));
    const plans = await planAll(tx, items, heads, means);
    const planned = plans.filter((plan): plan is PlannedSpawn => "row" in plan);
    if (planned.length === 0) return { outcomes: plans as readonly Outcome[], ended: [], rang: false, unrung: 0 };
    await makeHeads(tx, planned, heads);
    const rows = await tx.query<{ begun: boolean }>(SPAWN_TURNS, bindSpawn(planned.map(({ row }) => row)));
    const begun = planned.filter((_, index) => rows[index]?.begun === true);
    const late = planned.filter((_, index) => rows[index]?.begun !== true);
    const explained = await explain(tx, late);
    const dispatch = await dispatchAll(tx, begun, heads, means);
    const unrung = await writeTurns(
      tx,
      mergeWrites([...begun.map(({ writes }) => writes), ...dispatch.parts]),
      deps.protocolVersion,
    );
    const outcomes = plans.map((plan): Outcome => {
      if (!("row" in plan)) return plan;
      const place = late.indexOf(plan);
      if (place !== -1) return explained[place] as Outcome;
      return spawnedOf(plan, dispatch.epochs.get(plan.row.agentTurnId) ?? null);
    });
    return { outcomes, ended: dispatch.ended, rang: dispatch.parts.length > 0, unrung };
  };

  const flush = async (items: readonly SpawnItem[]): Promise<readonly Outcome[]> => {
    const written = await deps.db.transaction(async (tx) => {
      const done = await spawnAll(tx, items);
      await deps.faults.at("spawn:before-commit");
      return done;
    });
    await deps.faults.at("spawn:after-commit");
    announce(deps, written);
    return written.outcomes;
  };

  const coalescer = createCoalescer<SpawnItem, SpawnedTurn>({
    flush,
    keyOf: ({ request, correlationId }) => `${agentKey(request)}/${correlationId}`,
    bytesOf: ({ request }) => roughBytes(request, MAX_FLUSH_BYTES),
    maxBytes: MAX_FLUSH_BYTES,
    maxItems: MAX_FLUSH_ITEMS,
  });

  return {
    coalescer,
    async submit(request) {
      return coalescer.submit(prepareSpawn(request, deps.ids, deps.sha256));
    },
    async within(tx, request) {
      const { outcomes } = await spawnAll(tx, [prepareSpawn(request, deps.ids, deps.sha256)]);
      const [outcome] = outcomes;
      if (outcome instanceof Error || outcome === undefined) throw outcome;
      return outcome;
    },
  };
};
