// The status of a call or a turn: a sign and a word, so that it is readable without colours.

import type { ReactNode } from "react";

const SIGNS: Readonly<Record<string, string>> = {
  queued: "○",
  dispatched: "○",
  running: "◐",
  suspended: "◑",
  awaiting_approval: "◆",
  success: "●",
  completed: "●",
  failed: "✕",
  canceled: "⊘",
  timeout: "◷",
  partial: "◒",
  active: "●",
  ready: "●",
  live: "●",
  paused: "⊘",
  deleted: "⊘",
  inactive: "⊘",
  starting: "◐",
  pending: "◆",
};

const WORDS: Readonly<Record<string, string>> = { awaiting_approval: "needs approval" };

/** One of the few colours that mean something; everything unknown is neutral. */
export const toneOf = (status: string): string => {
  switch (status) {
    case "success":
    case "completed":
    case "ready":
    case "active":
    case "live":
      return "good";
    case "failed":
    case "dead":
      return "bad";
    case "timeout":
    case "partial":
    case "awaiting_approval":
    case "pending":
      return "warn";
    case "running":
    case "suspended":
    case "starting":
      return "busy";
    default:
      return "calm";
  }
};

export const Status = ({ status }: { readonly status: string }): ReactNode => (
  <span className={`status ${toneOf(status)}`}>
    <span aria-hidden="true">{SIGNS[status] ?? "·"}</span> {WORDS[status] ?? status}
  </span>
);
