// What comes again, too late, or at a bad moment.

import type { CallScript } from "../planned-call.ts";
import type { Session } from "../session.ts";
import { CANARY } from "./good-calls.ts";
import type { Scenario } from "./scenario.ts";

export const AGAIN = "command again";
export const TWICE = "command twice at once";
export const LATE = "late result";
export const LOST = "lost lease";
export const CANCELED = "canceled call";
export const TROUBLE = "server trouble";

/** After so many heartbeats the service is taken to ignore the refusal. */
const ENOUGH_BEATS = 4;
/** In leases: how long a card is withheld until a heartbeat comes, and then until the service reacts to its answer. */
const HOLD_LEASES = 2;

const again: Scenario = {
  name: AGAIN,
  clauses: ["UTP-C30"],
  mustLiveOn: true,
  async run(session) {
    const record = session.make({ scenario: AGAIN, label: "a command that came again" });
    if (!(await session.call(record))) return false;
    // A result that was sent may not be behind the service yet; one that was sent before another call's is.
    const between = session.make({ scenario: CANARY, label: "an ordinary call in between" });
    return (await session.call(between)) && (await session.give(record));
  },
};

const twice: Scenario = {
  name: TWICE,
  clauses: ["UTP-C31"],
  mustLiveOn: true,
  async run(session) {
    const record = session.make({ scenario: TWICE, label: "a command that came twice" });
    return (await session.give(record, record)) && (await session.answered(record));
  },
};

const late: Scenario = {
  name: LATE,
  clauses: ["UTP-C32"],
  mustLiveOn: true,
  async run(session) {
    for (const refusal of ["already_settled", "lease_lost"] as const) {
      const label = `a result refused with ${refusal}`;
      const script: CallScript = { results: [refusal, refusal, refusal, refusal] };
      if (!(await session.call(session.make({ scenario: LATE, label, script })))) return false;
    }
    return true;
  },
};

/**
 * Withholds the card until a heartbeat was answered with the refusal, and then for as long as the service may need to react: it
 * gives the card up, or asks again, or time passes. Without a heartbeat the card is given in the end.
 */
const holdCard = async (session: Session, scenario: string, label: string): Promise<boolean> => {
  const heartbeat = scenario === CANCELED ? "canceled" : "lost";
  const script: CallScript = { heartbeat, holdCard: true, leaseMs: session.leaseMs };
  const record = session.make({ scenario, label, script });
  if (!(await session.give(record))) return false;
  const { trace } = record;
  const isOver = (): boolean => trace.offers.length > 0 || trace.cardsGivenUp > 0;
  const holdMs = session.leaseMs * HOLD_LEASES;
  await session.until(() => trace.heartbeats.length > 0 || isOver(), holdMs);
  if (trace.heartbeats.length > 0)
    await session.until(() => trace.heartbeats.length >= ENOUGH_BEATS || isOver(), holdMs);
  session.openCard(record);
  return true;
};

const lost: Scenario = {
  name: LOST,
  clauses: ["UTP-C33"],
  mustLiveOn: true,
  run: (session) => holdCard(session, LOST, "a call whose lease was lost"),
};

const canceled: Scenario = {
  name: CANCELED,
  clauses: ["UTP-C34"],
  mustLiveOn: true,
  run: (session) => holdCard(session, CANCELED, "a canceled call"),
};

const trouble: Scenario = {
  name: TROUBLE,
  clauses: ["UTP-C35"],
  async run(session) {
    const script: CallScript = { results: ["storage_error", "proxy_page"], cards: ["storage_error"] };
    const record = session.make({ scenario: TROUBLE, label: "a result the server could not take at once", script });
    if (!(await session.give(record))) return false;
    return session.until(() => record.trace.offers.some(({ answered }) => answered < 300));
  },
};

export const repeatScenarios: readonly Scenario[] = [late, lost, canceled, trouble, again, twice];
