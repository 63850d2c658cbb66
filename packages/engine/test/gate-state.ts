// A gate as it is read under its lock, with nothing running.

import type { GateLimits, GateState } from "../src/gates/gate.ts";

export const BREAKER = { failure_rate: 0.5, window_seconds: 10, open_seconds: 30 };

export const gateState = (gate: string, limits: GateLimits, more: Partial<GateState> = {}): GateState => ({
  projectId: "p",
  gate,
  limits,
  running: 0,
  lingersUntilMs: [],
  trials: 0,
  lingeringTrials: 0,
  fullAtMs: null,
  lastLane: "",
  lastGate: "",
  openedAtMs: null,
  openUntilMs: null,
  nowMs: 1_000,
  ...more,
});
