// The scripted plane, as a tool service sees it: its answers to a request over any transport, including answers that the real
// engine would never give. It records everything for the judges and judges nothing itself.
//   XP1. A request that the real plane would refuse is served and noted, so that the other clauses can still be judged. Therefore the
//        real operations (`gateway/`) are not used over a fake engine: they refuse such a request before a judge could see it.
//   XP2. Nothing is stored beyond the run.

import { isRecord, type JsonObject } from "@toolplane/protocol";
import { type CallRecord, type Evidence, emptyTrace, type Offer, type SeenByPlane } from "../evidence.ts";
import type { LeaseAnswer, PlannedCall } from "../planned-call.ts";
import type { Watch } from "../watch.ts";
import { noSuch, refuse, refuseLease } from "./refuse.ts";
import { createResultDesk, type ResultDesk } from "./result-desk.ts";
import { createToolShelf, type ToolShelf } from "./tool-shelf.ts";

export interface PlaneOptions {
  readonly projectId: string;
  readonly watch: Watch;
  readonly now: () => number;
}

/** Where the doors record what they see. */
export interface PlaneBooks {
  readonly requests: Evidence["requests"][number][];
  readonly claims: Evidence["claims"][number][];
  readonly questions: Evidence["questions"][number][];
}

export interface ScriptedPlane {
  readonly books: PlaneBooks;
  readonly shelf: ToolShelf;
  readonly results: Pick<ResultDesk, "takeResult" | "takeCard" | "takeReport">;
  /** Makes the call known; a door gives it out. */
  add(call: PlannedCall): CallRecord;
  recordOf(call: PlannedCall): CallRecord | undefined;
  find(by: {
    call?: string | undefined;
    card?: string | undefined;
    lease?: string | undefined;
  }): CallRecord | undefined;
  /** Everything that is seen gets a number in one common order. */
  nextOrder(): number;
  /** What comes with a command that is given out under a lease. */
  termsOf(call: PlannedCall): JsonObject;
  lease(record: CallRecord | undefined): Response;
  readCard(
    record: CallRecord | undefined,
    signal: AbortSignal,
    show?: (card: JsonObject) => JsonObject,
  ): Promise<Response>;
  beat(record: CallRecord | undefined): Response;
  release(record: CallRecord | undefined): Response;
  openCard(record: CallRecord): void;
  seen(): SeenByPlane;
}

/** Twice the real plane's default, so that a service on a busy machine does not lose a lease by accident. */
const LEASE_MS = 30_000;

/** Cards read by their own id come without `__type__`; only the service route shows it. */
export const withoutKind = (card: JsonObject): JsonObject => {
  if (!isRecord(card.content)) return card;
  const { __type__: _kind, ...content } = card.content as JsonObject;
  return { ...card, content };
};

export const createScriptedPlane = ({ projectId, watch, now }: PlaneOptions): ScriptedPlane => {
  const books: PlaneBooks = { requests: [], claims: [], questions: [] };
  const registrations: Evidence["registrations"][number][] = [];
  const records: CallRecord[] = [];
  const strays: Offer[] = [];
  const gates = new Map<CallRecord, AbortController>();
  const held = new Set<CallRecord>();
  let order = 0;
  const nextOrder = (): number => {
    order += 1;
    return order;
  };

  const findByCall = (id: string): CallRecord | undefined =>
    records.find(({ call }) => id !== "" && (call.ids.callId === id || call.ids.otherCallId === id));
  const findByLease = (id: string): CallRecord | undefined => records.find(({ call }) => call.ids.leaseId === id);
  const findByCard = (id: string): CallRecord | undefined => records.find(({ call }) => call.ids.cardId === id);
  const shelf = createToolShelf(projectId, (registration) => registrations.push(registration));
  const results = createResultDesk({ findByCall, findByLease, onStray: (offer) => strays.push(offer), nextOrder });

  const leaseEnd = ({ script }: PlannedCall): string => new Date(now() + (script.leaseMs ?? LEASE_MS)).toISOString();
  const termsOf: ScriptedPlane["termsOf"] = (call) => ({
    lease: { id: call.ids.leaseId, expires_at: leaseEnd(call) },
    run_deadline: new Date(now() + LEASE_MS).toISOString(),
    attempt: 1,
  });

  const leaseAnswer = (record: CallRecord): LeaseAnswer => {
    const scripted = record.call.script.leases?.[record.trace.leases.length];
    if (scripted !== undefined) return scripted;
    if (results.isSettled(record)) return "over";
    return held.has(record) ? "held" : "granted";
  };

  return {
    books,
    shelf,
    results,
    nextOrder,
    termsOf,
    add(call) {
      const record: CallRecord = { call, trace: emptyTrace() };
      records.push(record);
      if (call.script.holdCard === true) gates.set(record, new AbortController());
      return record;
    },
    recordOf: (call) => records.find((known) => known.call === call),
    find: ({ call, card, lease }) =>
      findByCall(call ?? "") ??
      (card === undefined ? undefined : findByCard(card)) ??
      (lease === undefined ? undefined : findByLease(lease)),
    lease(record) {
      if (record === undefined) return noSuch("call of that id");
      const answer = leaseAnswer(record);
      record.trace.leases.push({ order: nextOrder(), answer });
      watch.changed();
      if (answer !== "granted") return refuseLease(answer);
      held.add(record);
      const { call } = record;
      // A withheld card has to be asked for.
      const card = gates.has(record) ? null : (call.card ?? null);
      if (card !== null) record.trace.cardReads.push(nextOrder());
      return Response.json({ ...call.command, ...termsOf(call), card });
    },
    async readCard(record, signal, show = (card) => card) {
      if (record === undefined) return noSuch("call of that id");
      record.trace.cardReads.push(nextOrder());
      watch.changed();
      const gate = gates.get(record);
      if (gate !== undefined) await untilAborted(AbortSignal.any([gate.signal, signal]));
      if (signal.aborted) record.trace.cardsGivenUp += 1;
      return record.call.card === undefined ? noSuch("card of that call") : Response.json(show(record.call.card));
    },
    beat(record) {
      if (record === undefined) return noSuch("call of that id");
      const answer = record.call.script.heartbeat ?? "renewed";
      record.trace.heartbeats.push({ order: nextOrder(), answer });
      if (answer === "lost") return refuse("lease_lost");
      return Response.json({ expires_at: leaseEnd(record.call), cancel: answer === "canceled" });
    },
    release(record) {
      if (record !== undefined) {
        record.trace.releases += 1;
        held.delete(record);
      }
      return Response.json({ released: true });
    },
    openCard: (record) => gates.get(record)?.abort(),
    seen: () => ({ ...books, registrations, calls: records, strays }),
  };
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
