// What becomes of claims: acknowledged, handed back, extended or buried, collected into one statement per verb and
// flush. Every verb names the claim, so doing it twice or too late changes nothing; a flush may be repeated freely.

import { createCoalescer } from "../coalescer/coalescer.ts";
import type { Faults } from "../ports/faults.ts";
import type { Database, Statement } from "../sql/database.ts";
import type { Claim } from "./claim.ts";
import {
  ACK_DELIVERIES,
  ACK_MESSAGES,
  BURY_DELIVERIES,
  BURY_MESSAGES,
  burialInput,
  claimInput,
  DELAY_DELIVERIES,
  DELAY_MESSAGES,
  delayInput,
  EXTEND_DELIVERIES,
  EXTEND_MESSAGES,
} from "./claims.sql.ts";
import { failTogether } from "./fail-together.ts";

type Verb = "ack" | "delay" | "extend" | "bury";

interface Order {
  readonly verb: Verb;
  readonly claim: Claim;
  readonly delayMs: number;
  readonly uncount: number;
  readonly code: string;
  readonly reason: string;
}

export interface Settlement {
  ack(claim: Claim): Promise<void>;
  /** Offered again after the delay. */
  delay(claim: Claim, delayMs: number): Promise<void>;
  /** Offered again at once, as if it had never been delivered. */
  giveBack(claim: Claim): Promise<void>;
  extend(claim: Claim, ackWaitMs: number): Promise<void>;
  bury(claim: Claim, why: { readonly code: string; readonly reason: string }): Promise<void>;
  /** Resolves when nothing is left to write. */
  idle(): Promise<void>;
}

interface VerbPlan {
  readonly messages: Statement;
  readonly deliveries: Statement;
  bind(orders: readonly Order[]): unknown[];
}

const rowOf = ({ claim, delayMs, uncount, code, reason }: Order) => ({
  durable: claim.durable ?? "",
  id: claim.id,
  claimId: claim.claimId,
  delayMs,
  uncount,
  code,
  reason,
});

const VERBS: Readonly<Record<Verb, VerbPlan>> = {
  ack: {
    messages: ACK_MESSAGES,
    deliveries: ACK_DELIVERIES,
    bind: (orders) => claimInput.bind(orders.map(rowOf)),
  },
  delay: {
    messages: DELAY_MESSAGES,
    deliveries: DELAY_DELIVERIES,
    bind: (orders) => delayInput.bind(orders.map(rowOf)),
  },
  extend: {
    messages: EXTEND_MESSAGES,
    deliveries: EXTEND_DELIVERIES,
    bind: (orders) => delayInput.bind(orders.map(rowOf)),
  },
  bury: {
    messages: BURY_MESSAGES,
    deliveries: BURY_DELIVERIES,
    bind: (orders) => burialInput.bind(orders.map(rowOf)),
  },
};

/** Ascending by row, so that two flushes never lock the same rows in opposite order. */
const inOrder = (orders: readonly Order[]): Order[] =>
  [...orders].sort((a, b) => {
    const [left, right] = [BigInt(a.claim.id), BigInt(b.claim.id)];
    return left < right ? -1 : left > right ? 1 : 0;
  });

export const createSettlement = (db: Database, faults: Faults): Settlement => {
  const runVerb = async (verb: Verb, orders: readonly Order[]): Promise<void> => {
    const { messages, deliveries, bind } = VERBS[verb];
    const [ofDurables, ofQueue] = [orders.filter((o) => o.claim.durable), orders.filter((o) => !o.claim.durable)];
    const runs: Promise<unknown>[] = [];
    if (ofQueue.length > 0) runs.push(db.query(messages, bind(inOrder(ofQueue))));
    if (ofDurables.length > 0) runs.push(db.query(deliveries, bind(inOrder(ofDurables))));
    await Promise.all(runs);
  };

  const coalescer = createCoalescer<Order, undefined>({
    flush: failTogether(async (orders) => {
      await faults.at("ack:before-commit");
      const verbs = [...new Set(orders.map(({ verb }) => verb))];
      await Promise.all(
        verbs.map((verb) =>
          runVerb(
            verb,
            orders.filter((order) => order.verb === verb),
          ),
        ),
      );
      await faults.at("ack:after-commit");
      return orders.map(() => undefined);
    }),
  });

  const order = (verb: Verb, claim: Claim, details: Partial<Order> = {}): Promise<void> =>
    coalescer.submit({ verb, claim, delayMs: 0, uncount: 0, code: "", reason: "", ...details });

  return {
    ack: (claim) => order("ack", claim),
    delay: (claim, delayMs) => order("delay", claim, { delayMs }),
    giveBack: (claim) => order("delay", claim, { uncount: 1 }),
    extend: (claim, ackWaitMs) => order("extend", claim, { delayMs: ackWaitMs }),
    bury: (claim, why) => order("bury", claim, why),
    idle: () => coalescer.idle(),
  };
};
