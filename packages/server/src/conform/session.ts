// What a scenario can do: plan a call, give it out, wait for what becomes of it.

import type { Transport } from "./clauses.ts";
import { type CallRecord, isTerminated } from "./evidence.ts";
import type { ScriptedPlane } from "./plane/scripted-plane.ts";
import type { ServiceDoor } from "./plane/service-door.ts";
import { type CallPlace, type CallSpec, planCall } from "./planned-call.ts";
import type { SamplePair } from "./sample-arguments.ts";
import type { ServiceLife } from "./service-life.ts";
import type { Watch } from "./watch.ts";

export interface SessionOptions {
  readonly transport: Transport;
  readonly plane: ScriptedPlane;
  readonly door: ServiceDoor;
  readonly watch: Watch;
  readonly life: ServiceLife;
  readonly place: CallPlace;
  readonly samples: SamplePair;
  /** How long an answer may take. */
  readonly timeoutMs: number;
  /** The lease of calls that wait for a heartbeat. */
  readonly leaseMs: number;
}

export type CallDraft = Omit<CallSpec, "arguments"> & Partial<Pick<CallSpec, "arguments">>;

export interface Session {
  readonly transport: Transport;
  readonly samples: SamplePair;
  readonly leaseMs: number;
  /** A call with the first sample's arguments unless others are given. */
  make(draft: CallDraft): CallRecord;
  /** Gives the calls out together, as far as the service takes them at once, and waits until it has them. */
  give(...records: readonly CallRecord[]): Promise<boolean>;
  /** A result came, or the call was given back, or its command was terminated. */
  answered(record: CallRecord): Promise<boolean>;
  /** Gives a call out and waits for its answer. */
  call(record: CallRecord): Promise<boolean>;
  /** Whether it became true in time; a service that has ended is not waited for. */
  until(isTrue: () => boolean, withinMs?: number): Promise<boolean>;
  openCard(record: CallRecord): void;
  /** The most the service asked for at once. */
  claimSize(): number;
  /** Makes the next claims fail and waits until they did. */
  failClaims(): Promise<boolean>;
  /** Whether it asks for work; a service that only listens does not. */
  isFetching(): boolean;
  /** The service hands results over by card and report. */
  isTwoStep(): boolean;
  /** Every call that was made so far. */
  calls(): readonly CallRecord[];
}

export const createSession = (options: SessionOptions): Session => {
  const { transport, plane, door, watch, life, place, samples, timeoutMs, leaseMs } = options;

  const until: Session["until"] = async (isTrue, withinMs = timeoutMs) => {
    await watch.until(() => isTrue() || life.ended() !== undefined, withinMs);
    return isTrue();
  };

  const give: Session["give"] = async (...records) => {
    const times = (record: CallRecord): number => records.filter((one) => one === record).length;
    const wanted = new Map(records.map((record) => [record, record.trace.deliveries + times(record)]));
    door.give(records.map(({ call }) => call));
    return until(() => [...wanted].every(([{ trace }, deliveries]) => trace.deliveries >= deliveries));
  };

  const answered: Session["answered"] = (record) =>
    until(() => record.trace.offers.length > 0 || record.trace.releases > 0 || isTerminated(record));

  return {
    transport,
    samples,
    leaseMs,
    until,
    give,
    answered,
    make: (draft) => plane.add(planCall({ arguments: samples.first, ...draft }, place)),
    call: async (record) => (await give(record)) && (await answered(record)),
    openCard: (record) => plane.openCard(record),
    claimSize: () => plane.seen().claims.reduce((most, { max }) => Math.max(most, max), 1),
    async failClaims() {
      await door.breakClaims();
      return until(() => door.areClaimsBack(), timeoutMs + door.claimMs());
    },
    isFetching: () => plane.seen().claims.some(({ target }) => target === place.target),
    calls: () => plane.seen().calls,
    isTwoStep: () => plane.seen().calls.some(({ trace }) => trace.offers.some(({ form }) => form === "report")),
  };
};
