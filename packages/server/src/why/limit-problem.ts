// Why a call waits although services could take it: a limit holds it back. The sentence names the limit, what holds the slots, when
// the next call may start, and how many calls start before this one. Calls that the reader may not see are counted and not named. Pure.

import type { HeldBack, QueuePlace } from "@toolplane/engine";
import { aheadText, callsText } from "./queue-words.ts";

type Said = readonly [string, string | null];

/** What its reader may know of what holds a call: `slots` are those that the reader may see. */
export interface ShownHold extends HeldBack {
  /** When the first of all slots is free at the latest; null when more calls run than the limit allows now, so that several have to end. */
  readonly freeBy: Date | undefined;
  /** The call of the trial has ended, and its service still runs it. */
  readonly isTrialLingering: boolean;
}

/** `seen`: the calls that the reader may see. */
export const showHold = (held: HeldBack, seen: ReadonlySet<string>): ShownHold => ({
  ...held,
  slots: held.slots.filter(({ toolCallId }) => seen.has(toolCallId)),
  freeBy: held.slots[0]?.runDeadline ?? undefined,
  isTrialLingering: held.blockedBy === "breaker" && (held.slots[0]?.endedAs ?? null) !== null,
});

/** A call that a limit holds, and where it stands. */
interface Held extends ShownHold {
  readonly projectId: string;
  readonly nowMs: number;
  readonly place: QueuePlace | undefined;
}

const when = (date: Date | null | undefined, nowMs: number): string =>
  date === null || date === undefined
    ? "an unknown time"
    : `${date.toISOString()} (in ${Math.max(0, Math.ceil((date.getTime() - nowMs) / 1_000))} s)`;

const thenAhead = ({ place }: Held): string => (place === undefined ? "" : `; ${aheadText(place)}`);

const ranFor = (startedAt: Date | null, nowMs: number): string =>
  startedAt === null ? "" : ` for ${Math.max(0, Math.floor((nowMs - startedAt.getTime()) / 1_000))} s`;

/** A service that lives renews its lease long before the end: a lease that runs down is that of a service that is not heard. */
const leasedFor = (leaseUntil: Date | null, nowMs: number): string =>
  leaseUntil === null ? "" : `, leased for ${Math.max(0, Math.ceil((leaseUntil.getTime() - nowMs) / 1_000))} s more`;

/** A call that was canceled or is out of time may still run, and holds its slot until its service says that it is over. */
const slotText = (
  { toolCallId, holder, startedAt, endedAs, leaseUntil, runDeadline }: Held["slots"][number],
  nowMs: number,
): string => {
  const where = holder ?? "a service without leases";
  if (endedAs === null)
    return `call ${toolCallId} at ${where}${ranFor(startedAt, nowMs)}${leasedFor(leaseUntil, nowMs)}`;
  const ended = endedAs === "timeout" ? "out of time" : endedAs;
  return `call ${toolCallId}, ${ended}, still in the hands of ${where}, until ${runDeadline?.toISOString() ?? "an unknown time"} at the latest`;
};

/** Calls of others are not named. */
const holders = ({ slots, running, nowMs }: Held): string => {
  const named = slots.map((slot) => slotText(slot, nowMs)).join(", ");
  if (named === "") return "";
  return running > slots.length ? ` (${named} and ${running - slots.length} more)` : ` (${named})`;
};

/** A limit that was lowered has more calls in flight than slots. */
const whenFree = ({ limits: { concurrency = 0 }, running, freeBy, nowMs }: Held): string => {
  const over = running - concurrency;
  return over > 0
    ? `a slot is free when ${over + 1} of them have ended`
    : `a slot is free when one of them ends or its lease lapses, at the latest at ${when(freeBy, nowMs)}`;
};

/** To cancel a call that has ended frees nothing. */
const howToEnd = (slots: Held["slots"]): string => {
  const [first, ...more] = slots.filter(({ endedAs }) => endedAs === null);
  if (first === undefined) return "";
  return `end a call that holds a slot: toolplane calls cancel ${more.length === 0 ? first.toolCallId : "ID"}; or `;
};

const whySlots = (held: Held): Said => {
  const { toolName, limits, running, projectId, slots } = held;
  const whose = toolName === undefined ? `project ${projectId}` : toolName;
  const change = toolName === undefined ? `projects limits ${projectId}` : `tools limits ${toolName}`;
  return [
    `it waits for a slot: ${whose} runs at most ${callsText(limits.concurrency ?? 0)} at a time, and ${running} ${running === 1 ? "runs" : "run"} now${holders(held)}; ${whenFree(held)}${thenAhead(held)}`,
    `${howToEnd(slots)}let more run at once: toolplane ${change} --concurrency N`,
  ];
};

const whyRate = (held: Held): Said => {
  const { toolName, limits, nextAt, nowMs, place } = held;
  const { limit = 1, per_seconds: seconds = 0 } = limits.rate ?? {};
  const ahead = place?.ahead ?? 0;
  const own =
    ahead === 0 || nextAt === undefined
      ? ""
      : `, so it starts at about ${when(new Date(nextAt.getTime() + (ahead * seconds * 1_000) / limit), nowMs)}`;
  return [
    `it waits for the rate of ${toolName}, at most ${callsText(limit)} in ${seconds} s; the next call may start at ${when(nextAt, nowMs)}${thenAhead(held)}${own}`,
    `to let it start more often: toolplane tools limits ${toolName} --rate N/s`,
  ];
};

const trialText = ({ nextAt, slots: [slot], isTrialLingering, nowMs }: Held): string => {
  if (nextAt !== undefined)
    return `a call runs as a trial at ${when(nextAt, nowMs)}, and its success closes the breaker`;
  if (isTrialLingering)
    return `the call of its trial has ended, but a service still runs it${slot === undefined ? "" : ` (${slotText(slot, nowMs)})`}; the next call runs as a trial when that run is over`;
  const trial = slot === undefined ? "a call" : `call ${slot.toolCallId}`;
  return `${trial} runs as a trial now: its success closes the breaker, its failure keeps it open`;
};

/** As it is typed. */
const breakerText = ({ breaker }: Held["limits"]): string =>
  breaker == null ? "RATE/WINDOW/OPEN" : `${breaker.failure_rate}/${breaker.window_seconds}s/${breaker.open_seconds}s`;

const whyBreaker = (held: Held): Said => {
  const { toolName, target, openedAt, limits, projectId } = held;
  const since = openedAt === undefined ? "" : ` since ${openedAt.toISOString()}`;
  const of = toolName === undefined ? `--target ${target}` : `--tool ${toolName}`;
  const change = toolName === undefined ? `projects limits ${projectId}` : `tools limits ${toolName}`;
  return [
    `the breaker of ${toolName ?? `target ${target}`} has been open${since}, because too many of its runs failed; ${trialText(held)}${thenAhead(held)}`,
    `see why the runs fail: toolplane calls list ${of} --status failed; to close the breaker by hand, take it away and set it again: toolplane ${change} --breaker none, then --breaker ${breakerText(limits)}; the calls that wait run then; to end them before, run: toolplane calls cancel --all ${of}`,
  ];
};

export const planLimitWhy = (held: Held): Said => {
  switch (held.blockedBy) {
    case "concurrency":
      return whySlots(held);
    case "rate":
      return whyRate(held);
    case "breaker":
      return whyBreaker(held);
  }
};

interface LimitFacts {
  readonly held_by: HeldBack["blockedBy"];
  readonly of: string;
  readonly limits: HeldBack["limits"];
  readonly running: number;
  readonly next_at: string | null;
  /** When the first of all slots is free at the latest. */
  readonly slot_free_by: string | null;
  /** Those that the reader may see. */
  readonly slots: readonly {
    readonly tool_call_id: string;
    readonly holder: string | null;
    readonly started_at: string | null;
    readonly lease_until: string | null;
    readonly run_deadline: string | null;
    readonly ended_as: string | null;
  }[];
}

const isOver = ({ concurrency }: HeldBack["limits"], running: number): boolean =>
  concurrency != null && running > concurrency;

/** For the facts beside the sentence. */
export const limitFacts = ({
  toolName,
  target,
  blockedBy,
  limits,
  running,
  nextAt,
  freeBy,
  slots,
}: ShownHold): LimitFacts => ({
  held_by: blockedBy,
  of: toolName ?? (target === undefined ? "the project" : `target ${target}`),
  limits,
  running,
  next_at: nextAt?.toISOString() ?? null,
  slot_free_by: isOver(limits, running) ? null : (freeBy?.toISOString() ?? null),
  slots: slots.map(({ toolCallId, holder, startedAt, leaseUntil, runDeadline, endedAs }) => ({
    tool_call_id: toolCallId,
    holder,
    started_at: startedAt?.toISOString() ?? null,
    lease_until: leaseUntil?.toISOString() ?? null,
    run_deadline: runDeadline?.toISOString() ?? null,
    ended_as: endedAs,
  })),
});
