// Holding heads: everything that moves a turn does it while it holds its agent's head. A flush takes the heads it can get at
// once, in one order; an agent whose head another transaction holds comes with the next flush.

import type { Sha256 } from "../calls/turn-chain.ts";
import { type Coalescer, type CoalescerOptions, createCoalescer } from "../coalescer/coalescer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Database, Queryer } from "../sql/database.ts";
import type { AgentBells, RungAgent } from "./agent-bells.ts";
import type { LedgerMeans } from "./ledger.ts";
import type { AgentKey, EndedKey } from "./turn.ts";
import { agentKey, type HeadRow } from "./turn-row.ts";
import { bindAgents, KNOWN_HEADS, LOCK_HEADS } from "./turns.sql.ts";

export interface TurnDeps {
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly sha256: Sha256;
  readonly protocolVersion: string;
  /** A bus beside the database carries wakeups. */
  readonly external: boolean;
  readonly bells: AgentBells;
  /** How long a worker may be silent before its work is offered to others. */
  readonly claimSeconds: number;
  /** Told of every turn that ended here. */
  readonly ended: (key: EndedKey) => void;
}

export const meansOf = (deps: Pick<TurnDeps, "ids" | "clock" | "sha256">): LedgerMeans => ({
  ids: deps.ids,
  nowMs: deps.clock.now(),
  sha256: deps.sha256,
});

/** In the order asked: the head, `locked` by another transaction, or undefined for an agent without one. */
export const lockHeads = async (
  tx: Queryer,
  agents: readonly AgentKey[],
): Promise<readonly (HeadRow | "locked" | undefined)[]> => {
  const rows = await tx.query<HeadRow>(LOCK_HEADS, bindAgents(agents));
  const held = new Map(rows.map((row) => [row.ord, row]));
  if (held.size === agents.length) return agents.map((_, index) => held.get(index + 1));
  const known = new Set((await tx.query<{ ord: number }>(KNOWN_HEADS, bindAgents(agents))).map(({ ord }) => ord));
  return agents.map((_, index) => held.get(index + 1) ?? (known.has(index + 1) ? "locked" : undefined));
};

export interface Done {
  readonly ended: readonly EndedKey[];
  /** Events were written. */
  readonly rang: boolean;
  readonly unrung: number;
  readonly rung: readonly RungAgent[];
  /** Every agent that is rung has a turn that waits for a place, and nothing else to do. */
  readonly why?: "work" | undefined;
}

/** After the commit: tells waiting callers, rings the bells, and names agents that have no pool. */
export const announce = (deps: Pick<TurnDeps, "doorbell" | "log" | "ended" | "bells">, done: Done): void => {
  for (const key of done.ended) deps.ended(key);
  deps.bells.ring(done.rung, done.why);
  if (done.rang) deps.doorbell.ring("messages");
  if (done.unrung > 0) deps.log.warn("an agent has no worker_target: no worker was rung, and its inbox waits");
};

// The holder of the head is in a short transaction. If it is not short, retrying in a tight loop would only burn CPU.
const LOCKED_PAUSE_MS = 5;

/** A coalescer with one item per agent in a flush; `locked` items are tried again. */
export const createHeadCoalescer = <Item extends AgentKey, Outcome>(
  options: Omit<CoalescerOptions<Item, Outcome | "locked">, "keyOf">,
  clock: Clock,
): Coalescer<Item, Outcome> => {
  const coalescer = createCoalescer<Item, Outcome | "locked">({ ...options, keyOf: agentKey });
  return {
    async submit(item) {
      let outcome = await coalescer.submit(item);
      while (outcome === "locked") {
        await clock.sleep(LOCKED_PAUSE_MS);
        outcome = await coalescer.submit(item);
      }
      return outcome;
    },
    idle: coalescer.idle,
    stats: coalescer.stats,
  };
};
