// Everything that can be done to one agent's turns, in any order and at once, by two processes that also use what is not
// theirs any more: work that was taken over, leases that lapsed, results that were given before.

import { type Engine, type LeasedCall, type StepEntry, stepIdOf, type Work } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { meddle, queryTestDatabase, resultFor } from "@toolplane/testkit";
import fc from "fast-check";
import { expect } from "vitest";
import * as sql from "./attack.sql.ts";
import { addAgent, asking, call, startTurnWorld, type TurnWorld, thought } from "./turn-world.ts";

interface Blow {
  readonly what: keyof ReturnType<typeof actsOn>;
  readonly which: number;
  readonly elsewhere: boolean;
}

interface Target {
  readonly t: TurnWorld;
  readonly agentId: string;
  readonly turns: string[];
  /** Everything that was ever taken, whoever has it now. */
  readonly works: Work[];
  readonly leases: LeasedCall[];
}

const MOST_TURNS = 6;

const query = ({ t }: Target, text: string, values: readonly unknown[]) =>
  queryTestDatabase(t.database.url, text, [...values]);

const entriesOf = (work: Work, which: number): StepEntry[] => [
  { card: thought(work, `thought ${which}`) },
  ...(which % 2 === 0 ? [call("safe")] : [call("ender"), call("nothing")]),
  ...(which > 3 ? [call("unsafe")] : []),
];

/** One of them, done by this engine with the n-th last of what there is. */
const actsOn = (target: Target, engine: Engine, which: number) => {
  const { t, agentId, turns, works, leases } = target;
  const { projectId } = t;
  const work = works.at(-1 - (which % 3));
  const lease = leases.at(-1 - which);
  const agentTurnId = turns.at(-1 - (which % 2));
  const nothing = Promise.resolve();
  const ifWork = (use: (work: Work) => Promise<unknown>) => (work === undefined ? nothing : use(work));
  const ifLease = (use: (lease: LeasedCall) => Promise<unknown>) => (lease === undefined ? nothing : use(lease));
  const stepOf = ({ agentTurnId: turn, stepCount }: Work): string => stepIdOf(turn, stepCount + 1);
  const take = async (takeWork: boolean): Promise<void> => {
    const advanced = await engine.turns.advance({ projectId, agentId, workerId: "attacker", takeWork });
    if (advanced.work !== undefined) works.push(advanced.work);
  };
  const commit = async (held: Work, entries: StepEntry[]): Promise<void> => {
    await engine.turns.beginStep(held, stepOf(held));
    const done = await engine.turns.commitStep(held, { stepId: stepOf(held), entries });
    if (done.next === "running") works.push({ ...held, stepCount: done.stepCount });
  };
  const error = { code: "tool_error", message: "no" };
  return {
    spawn: async () => {
      if (turns.length < MOST_TURNS) turns.push((await engine.turns.spawn(asking(t, { agentId }))).agentTurnId);
    },
    take: () => take(true),
    peek: () => take(false),
    begin: () => ifWork((held) => engine.turns.beginStep(held, stepOf(held))),
    commit: () => ifWork((held) => commit(held, entriesOf(held, which))),
    refuse: () => ifWork((held) => commit(held, [call("nothing")])),
    finish: () => ifWork((held) => engine.turns.finish(held, { status: "success", deliverable: "done" })),
    fail: () => ifWork((held) => engine.turns.finish(held, { status: "failed", error: "it broke" })),
    release: () => ifWork((held) => engine.turns.release(held)),
    beat: () => engine.turns.heartbeat(works),
    stop: () =>
      agentTurnId === undefined ? nothing : engine.turns.stop({ projectId, agentTurnId, actorId: "sys.pmo" }),
    claim: async () => {
      leases.push(...(await engine.calls.claim({ projectId, target: "test", holder: "h", max: 4 })));
    },
    settle: () => ifLease((held) => engine.calls.settle(resultFor(held))),
    settleOtherwise: () => ifLease((held) => engine.calls.settle(resultFor(held, { status: "failed", error }))),
    cancel: () => ifLease(({ facts }) => engine.calls.cancel({ projectId, toolCallId: facts.toolCallId })),
    lapseClaims: () => meddle(target.t, "lapseClaimsOf", [agentId]),
    lapseLeases: () => meddle(target.t, "lapseLeasesOf", [agentId]),
    sweep: async () => {
      await meddle(target.t, "ageHeadOf", [agentId]);
      await engine.expire(50);
      await engine.tendTurns.lapsed(50);
      await engine.tendTurns.unheard(50);
      await engine.tendTurns.open(50);
    },
    deactivate: () => meddle(target.t, "setAgentStatus", [agentId, "inactive"]),
    activate: () => meddle(target.t, "setAgentStatus", [agentId, "active"]),
  };
};

const ACTS: readonly Blow["what"][] = [
  ...(["spawn", "take", "peek", "begin", "commit", "refuse", "finish", "fail", "release", "beat"] as const),
  ...(["stop", "claim", "settle", "settleOtherwise", "cancel", "lapseClaims", "lapseLeases", "sweep"] as const),
  ...(["deactivate", "activate"] as const),
];

const blow = fc.record({ what: fc.constantFrom(...ACTS), which: fc.nat({ max: 5 }), elsewhere: fc.boolean() });
/** Those of one group happen at the same time. */
const story = fc.array(fc.array(blow, { minLength: 1, maxLength: 4 }), { minLength: 8, maxLength: 24 });

const MOST_ROUNDS = 80;

/** Somebody who does everything right brings what is left to its end. */
const finishAll = async (target: Target): Promise<void> => {
  const { t, agentId } = target;
  const { engine, projectId } = t;
  await meddle(target.t, "setAgentStatus", [agentId, "active"]);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if ((await query(target, sql.OPEN_TURNS, [agentId])).length === 0) return;
    for (const what of ["lapseClaimsOf", "retryRowsOf", "lapseLeasesOf"] as const)
      await meddle(target.t, what, [agentId]);
    await actsOn(target, engine, 0).sweep();
    await meddle(target.t, "offerCallsOf", [agentId]);
    const claimed = await engine.calls.claim({ projectId, target: "test", holder: "h", max: 50 });
    for (const one of claimed) await engine.calls.settle(resultFor(one));
    const { work } = await engine.turns.advance({ projectId, agentId, workerId: "good", takeWork: true });
    if (work !== undefined) await engine.turns.finish(work, { status: "success", deliverable: "done" });
  }
};

const SOUND = {
  open: false,
  deliverables: 1,
  boxed: 1,
  events: 1,
  open_calls: 0,
  open_rows: 0,
  open_steps: 0,
  unpaired: [],
  head: "idle",
};

/** A refusal is an answer; a fault of ours or of the database's is not. */
const isFault = (thrown: unknown): boolean =>
  !isToolplaneError(thrown) || thrown.code === "internal_error" || thrown.code === "storage_error";

export const attackTurns = async (runs: number): Promise<void> => {
  await using t = await startTurnWorld({ turns: { maxClaims: 4 }, maxAttempts: 3 });
  const other = await t.another();
  let agents = 0;
  const run = async (groups: readonly (readonly Blow[])[]): Promise<void> => {
    const agentId = `target_${++agents}`;
    await addAgent(t, agentId);
    const target: Target = { t, agentId, turns: [], works: [], leases: [] };
    const faults: unknown[] = [];
    await actsOn(target, t.engine, 0).spawn();
    for (const group of groups)
      await Promise.all(
        group.map(async ({ what, which, elsewhere }) => {
          try {
            await actsOn(target, elsewhere ? other : t.engine, which)[what]();
          } catch (thrown) {
            if (isFault(thrown)) faults.push(thrown);
          }
        }),
      );
    expect(faults).toEqual([]);
    await finishAll(target);
    const found = await query(target, sql.FINDINGS, [agentId]);
    expect(found).toEqual(found.map(() => SOUND));
  };
  await fc.assert(fc.asyncProperty(story, run), { numRuns: runs, endOnFailure: true });
};
