// The life of a call on a time axis: waiting, every run, and what came after its end. Pure.

import type { CallBody } from "./call-body.ts";

export interface Stretch {
  readonly label: string;
  readonly kind: "wait" | "run" | "after";
  readonly tone: string;
  /** What happened at its end, or who had the call. */
  readonly note: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** It goes on. */
  readonly isOpen: boolean;
  /** Its place on the axis, from 0 to 1. */
  readonly left: number;
  readonly width: number;
}

export interface Timeline {
  readonly stretches: readonly Stretch[];
  readonly startMs: number;
  readonly endMs: number;
}

type Piece = Omit<Stretch, "left" | "width">;

const ENDS: Readonly<Record<string, string>> = {
  settled: "gave its result",
  canceled: "was canceled",
  timed_out: "ran out of time",
  lapsed: "stopped answering",
  released: "gave it back before it started",
  handed_on: "handed it on to a batch",
  failed: "failed; the retry policy tries again",
};

/** A stretch of no time still has to be seen and pointed at. */
const LEAST_WIDTH = 0.004;

const at = (text: string | null | undefined): number | undefined => {
  const ms = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
};

const waitLabel = (call: Pick<CallBody, "status">, isOpen: boolean, again: boolean): string => {
  if (isOpen && call.status === "awaiting_approval") return "waits for a person";
  return again ? "waits again" : "waits";
};

type TimedCall = Pick<CallBody, "status" | "created_at" | "settled_at" | "leases">;

export const planTimeline = (call: TimedCall, nowMs: number, resumedAt?: string | null): Timeline => {
  const created = at(call.created_at) ?? nowMs;
  const settled = at(call.settled_at);
  const end = Math.max(settled ?? nowMs, created);
  const pieces: Piece[] = [];
  let reached = created;
  const wait = (to: number, isOpen: boolean, again: boolean): void => {
    if (to <= reached && !isOpen) return;
    pieces.push({
      label: waitLabel(call, isOpen, again),
      kind: "wait",
      tone: isOpen && call.status === "awaiting_approval" ? "warn" : "calm",
      note: "",
      fromMs: reached,
      toMs: Math.max(to, reached),
      isOpen,
    });
  };
  for (const lease of call.leases ?? []) {
    const from = at(lease.started_at) ?? reached;
    wait(from, false, pieces.length > 0);
    const ended = at(lease.ended_at);
    const to = Math.max(ended ?? end, from);
    const isBad = lease.ended === "lapsed" || lease.ended === "timed_out" || lease.ended === "failed";
    const isGood = lease.ended === "settled" && call.status === "success";
    pieces.push({
      label: `attempt ${lease.attempt} runs`,
      kind: "run",
      tone: isGood ? "good" : isBad || (lease.ended === "settled" && call.status === "failed") ? "bad" : "busy",
      note: `${lease.holder ?? "a service"}${lease.ended === null ? "" : ` ${ENDS[lease.ended] ?? lease.ended}`}`,
      fromMs: from,
      toMs: to,
      isOpen: ended === undefined && settled === undefined,
    });
    reached = to;
  }
  const isRunning = pieces.at(-1)?.isOpen === true;
  if (!isRunning) wait(end, settled === undefined, pieces.length > 0);
  const resumed = at(resumedAt);
  if (settled !== undefined && resumed !== undefined)
    pieces.push({
      label: "the agent goes on",
      kind: "after",
      tone: "calm",
      note: "its next step began",
      fromMs: settled,
      toMs: Math.max(resumed, settled),
      isOpen: false,
    });
  const last = Math.max(end, ...pieces.map(({ toMs }) => toMs));
  const whole = Math.max(last - created, 1);
  return {
    startMs: created,
    endMs: last,
    stretches: pieces.map((piece) => {
      const left = Math.min((piece.fromMs - created) / whole, 1 - LEAST_WIDTH);
      return { ...piece, left, width: Math.max((piece.toMs - piece.fromMs) / whole, LEAST_WIDTH) };
    }),
  };
};
