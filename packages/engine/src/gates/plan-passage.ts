// Which waiting calls pass their gates, for whom. Pure.
//   GP1. No gate lets more calls pass than it has room for, whatever the requests ask for. This holds for the gates of tools, of the project and of
//        the target.
//   GP2. Lanes take turns, one call each, beginning after the lane that was served last. Gates take turns in the same way. So no agent
//        and no tool waits for the whole queue of another.
//   GP3. A request gets no more than it asked for.

import { type GateState, PROJECT_GATE } from "./gate.ts";
import { awaitsTrial, planRoom, spend } from "./plan-room.ts";

/** A request for calls; its place in the list is its `ord`. */
export interface Passer {
  readonly projectId: string;
  readonly max: number;
  /** The gate of the target, where it has one. */
  readonly targetGate?: string | undefined;
}

/** A call that could run; within a lane the oldest first. */
export interface WaitingCall {
  /** The place of the request it is for, from 0. */
  readonly ord: number;
  readonly gate: string;
  readonly lane: string;
  readonly toolCallId: string;
}

/** What a gate remembers after the passage. */
export interface GateMark {
  readonly projectId: string;
  readonly gate: string;
  readonly fullAtMs: number | null;
  readonly lastLane: string;
  readonly lastGate: string;
  /** The call that passed as the trial of its breaker; null when none did. */
  readonly trial: string | null;
}

export interface Passage {
  readonly passed: readonly WaitingCall[];
  readonly marks: readonly GateMark[];
}

interface Gate {
  readonly state: GateState;
  room: number;
  passed: number;
  lastLane: string;
  lastGate: string;
  trial: string | null;
}

export const gateKey = ({ projectId, gate }: { readonly projectId: string; readonly gate: string }): string =>
  `${projectId} ${gate}`;

/** The values in the order of their keys, beginning with the first key after `last`. */
export const behind = <Value>(
  values: readonly Value[],
  keyOf: (value: Value) => string,
  last: string,
): readonly Value[] => {
  const sorted = [...values].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return [...sorted.filter((value) => keyOf(value) > last), ...sorted.filter((value) => keyOf(value) <= last)];
};

export const planPassage = (
  states: readonly GateState[],
  passers: readonly Passer[],
  waiting: readonly WaitingCall[],
): Passage => {
  const gates = new Map<string, Gate>(
    states.map((state) => [
      gateKey(state),
      { state, room: planRoom(state).room, passed: 0, lastLane: state.lastLane, lastGate: state.lastGate, trial: null },
    ]),
  );
  const passed: WaitingCall[] = [];
  const taken = new Set<string>();

  const serve = ({ projectId, max, targetGate }: Passer, own: readonly WaitingCall[]): void => {
    const project = gates.get(gateKey({ projectId, gate: PROJECT_GATE }));
    const target = targetGate === undefined ? undefined : gates.get(gateKey({ projectId, gate: targetGate }));
    let left = max;
    const pass = (gate: Gate, call: WaitingCall): void => {
      taken.add(`${projectId} ${call.toolCallId}`);
      passed.push(call);
      gate.room--;
      gate.passed++;
      gate.lastLane = call.lane;
      left--;
      for (const one of [gate, target]) if (one !== undefined && awaitsTrial(one.state)) one.trial = call.toolCallId;
      if (target !== undefined) target.room--;
      if (project === undefined) return;
      if (project !== gate) project.room--;
      project.lastGate = call.gate;
    };
    const queues = behind([...Map.groupBy(own, ({ gate }) => gate)], ([gate]) => gate, project?.lastGate ?? "").flatMap(
      ([name, calls]) => {
        const gate = gates.get(gateKey({ projectId, gate: name }));
        if (gate === undefined) return [];
        const lanes = behind([...Map.groupBy(calls, ({ lane }) => lane)], ([lane]) => lane, gate.lastLane);
        return [{ gate, lanes: lanes.map(([, inLane]) => [...inLane]) }];
      },
    );
    const isOpen = (gate: Gate): boolean =>
      left > 0 && [gate, project, target].every((one) => one === undefined || one.room > 0);
    /** Passes one call of the first lane that has one, and puts that lane last. */
    const step = ({ gate, lanes }: (typeof queues)[number]): boolean => {
      for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift()) {
        const call = lane.shift();
        if (call === undefined) continue;
        lanes.push(lane);
        if (taken.has(`${projectId} ${call.toolCallId}`)) continue;
        pass(gate, call);
        return true;
      }
      return false;
    };
    for (let moved = true; moved; ) moved = queues.map((queue) => isOpen(queue.gate) && step(queue)).includes(true);
  };

  for (const [ord, passer] of passers.entries())
    serve(
      passer,
      waiting.filter((call) => call.ord === ord),
    );
  const marks = [...gates.values()].map(({ state, passed: count, lastLane, lastGate, trial }): GateMark => {
    const { projectId, gate, limits, fullAtMs, nowMs } = state;
    const full = limits.rate === undefined ? null : count === 0 ? fullAtMs : spend(limits.rate, fullAtMs, nowMs, count);
    return { projectId, gate, fullAtMs: full, lastLane, lastGate, trial };
  });
  const before = new Map(states.map((state) => [gateKey(state), state]));
  return {
    passed,
    marks: marks.filter((mark) => {
      const state = before.get(gateKey(mark));
      if (mark.trial !== null) return true;
      return state?.fullAtMs !== mark.fullAtMs || state.lastLane !== mark.lastLane || state.lastGate !== mark.lastGate;
    }),
  };
};
