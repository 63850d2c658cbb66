// Why a call waits although services could take it: a limit holds it back. The sentence names the limit, what holds the slots, and when
// the next call may start. Pure.

import type { HeldBack } from "@toolplane/engine";

type Said = readonly [string, string | null];

const when = (date: Date | null | undefined, nowMs: number): string =>
  date === null || date === undefined
    ? "an unknown time"
    : `${date.toISOString()} (in ${Math.max(0, Math.ceil((date.getTime() - nowMs) / 1_000))} s)`;

const holders = ({ slots, running }: HeldBack): string => {
  const named = slots
    .map(({ toolCallId, holder }) => `call ${toolCallId} at ${holder ?? "a service without leases"}`)
    .join(", ");
  return running > slots.length ? `${named} and ${running - slots.length} more` : named;
};

const whySlots = (held: HeldBack, projectId: string, nowMs: number): Said => {
  const { toolName, limits, running, slots } = held;
  const whose = toolName === undefined ? `project ${projectId}` : toolName;
  const todo =
    toolName === undefined
      ? `to let more run at once: toolplane projects limits ${projectId} --concurrency N`
      : `to let more run at once: toolplane tools limits ${toolName} --concurrency N`;
  return [
    `it waits for a slot: ${whose} runs ${limits.concurrency} at a time, and ${running} run now (${holders(held)}); a slot is free when one of them ends, at ${when(slots[0]?.runDeadline, nowMs)} at the latest`,
    todo,
  ];
};

const calls = (count = 0): string => (count === 1 ? "1 call" : `${count} calls`);

const whyRate = ({ toolName, limits: { rate }, nextAt }: HeldBack, nowMs: number): Said => [
  `it waits for the rate of ${toolName}, ${calls(rate?.limit)} in ${rate?.per_seconds} s; the next call may start at ${when(nextAt, nowMs)}`,
  `to let it run more often: toolplane tools limits ${toolName} --rate N/s`,
];

const whyBreaker = ({ toolName, target, openedAt, nextAt, slots }: HeldBack, nowMs: number): Said => [
  nextAt === undefined
    ? `the breaker of ${toolName ?? `target ${target}`} is open since ${openedAt?.toISOString()}: it failed too often; call ${slots[0]?.toolCallId} runs as a trial, and its end decides`
    : `the breaker of ${toolName ?? `target ${target}`} is open since ${openedAt?.toISOString()}: it failed too often; a call is let through as a trial at ${when(nextAt, nowMs)}`,
  toolName === undefined
    ? "see why its calls fail: toolplane calls list --status failed"
    : `see why its calls fail: toolplane calls list --tool ${toolName} --status failed`,
];

export const planLimitWhy = (held: HeldBack, projectId: string, nowMs: number): Said => {
  switch (held.blockedBy) {
    case "concurrency":
      return whySlots(held, projectId, nowMs);
    case "rate":
      return whyRate(held, nowMs);
    case "breaker":
      return whyBreaker(held, nowMs);
  }
};

interface LimitFacts {
  readonly held_by: HeldBack["blockedBy"];
  readonly of: string;
  readonly limits: HeldBack["limits"];
  readonly running: number;
  readonly next_at: string | null;
  readonly slots: readonly {
    readonly tool_call_id: string;
    readonly holder: string | null;
    readonly started_at: string | null;
    readonly run_deadline: string | null;
  }[];
}

/** For the facts beside the sentence. */
export const limitFacts = ({ toolName, target, blockedBy, limits, running, nextAt, slots }: HeldBack): LimitFacts => ({
  held_by: blockedBy,
  of: toolName ?? (target === undefined ? "the project" : `target ${target}`),
  limits,
  running,
  next_at: nextAt?.toISOString() ?? null,
  slots: slots.map(({ toolCallId, holder, startedAt, runDeadline }) => ({
    tool_call_id: toolCallId,
    holder,
    started_at: startedAt?.toISOString() ?? null,
    run_deadline: runDeadline?.toISOString() ?? null,
  })),
});
