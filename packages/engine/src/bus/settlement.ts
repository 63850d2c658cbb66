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
  DELAY_DELIVERIES,
  DELAY_MESSAGES,
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
  /** The columns beside the claim, in the statement's order. */
  readonly columns: readonly ("delayMs" | "uncount" | "code" | "reason")[];
}

const VERBS: Readonly<Record<Verb, VerbPlan>> = {
  ack: { messages: ACK_MESSAGES, deliveries: ACK_DELIVERIES, columns: [] },
  delay: { messages: DELAY_MESSAGES, deliveries: DELAY_DELIVERIES, columns: ["delayMs", "uncount"] },
  extend: { messages: EXTEND_MESSAGES, deliveries: EXTEND_DELIVERIES, columns: ["delayMs"] },
  bury: { messages: BURY_MESSAGES, deliveries: BURY_DELIVERIES, columns: ["code", "reason"] },
};

const bind = (orders: readonly Order[], durable: string | undefined, { columns }: VerbPlan): unknown[] => [
  orders.map(({ claim }) => claim.id),
  orders.map(({ claim }) => claim.claimId),
  ...(durable === undefined ? [] : [durable, orders.map(({ claim }) => `${claim.id}.${claim.part}`)]),
  ...columns.map((column) => orders.map((order) => order[column])),
];

/** Same verb, same durable: one statement. */
const groupOf = ({ verb, claim }: Order): string => `${verb} ${claim.durable ?? ""}`;

/** Ascending by row, so that two flushes never lock the same rows in opposite order. */
const inOrder = (orders: readonly Order[]): Order[] =>
  [...orders].sort((a, b) => {
    const [left, right] = [BigInt(a.claim.id), BigInt(b.claim.id)];
    return left < right ? -1 : left > right ? 1 : a.claim.part - b.claim.part;
  });

export const createSettlement = (db: Database, faults: Faults): Settlement => {
  const run = async (orders: readonly Order[]): Promise<void> => {
    const [first] = orders;
    if (first === undefined) return;
    const plan = VERBS[first.verb];
    const { durable } = first.claim;
    const statement = durable === undefined ? plan.messages : plan.deliveries;
    await db.query(statement, bind(inOrder(orders), durable, plan));
  };

  const coalescer = createCoalescer<Order, undefined>({
    // One order per row and flush: the statements find a row's values by its id, and a late ack of an old claim must
    // not take the place of a valid one.
    keyOf: ({ claim }) => `${claim.durable ?? ""} ${claim.id}.${claim.part}`,
    flush: failTogether(async (orders) => {
      await faults.at("ack:before-commit");
      await Promise.all([...Map.groupBy(orders, groupOf).values()].map(run));
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
