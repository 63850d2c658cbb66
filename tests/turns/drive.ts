// A world of turns that drives itself: a worker with a script, a tool service and the sweeps, as any number of processes
// may run them at once, die and come again. What a turn shall do is in its metadata, so that whoever takes it knows.

import type { Engine, StepEntry, Work } from "@toolplane/engine";
import { stepIdOf } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { resultFor, withTestClient } from "@toolplane/testkit";
import { call, POOL, thought } from "./turn-world.ts";

/**
 * deliver: a step with a refused call among others, then a deliverable. tool: a tool ends it. stop: stopped while it waits.
 * drop: its first worker is silent for ever; then a step of nothing but refusals, one with a call, a deliverable.
 */
export const SCRIPTS = ["deliver", "tool", "stop", "drop"] as const;
export type Script = (typeof SCRIPTS)[number];

export interface DriveOptions {
  readonly projectId: string;
  readonly url: string;
  readonly name: string;
  /** Called now and then between two rounds. */
  readonly mishap?: (() => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const REFUSED = call("nothing");

const planMove = (work: Work): readonly StepEntry[] | "finish" => {
  const script = work.metadata.script as Script;
  if (script === "tool") return [call("safe"), call("ender")];
  if (script === "stop") return [call("safe")];
  if (script === "deliver") return work.stepCount === 0 ? [call("safe"), REFUSED, call("safe")] : "finish";
  return [[REFUSED], [call("safe")]][work.stepCount] ?? "finish";
};

const OPEN = "select count(*)::int as open from state.turns where ended_at is null";
/** Long enough that two that share the work meet, short enough that a run is over soon. */
const PAUSE_MS = 5;
const BATCH = 20;

/** What goes wrong for one worker is for the sweeps to heal. */
const unharmed = async (what: Promise<unknown>): Promise<void> => {
  try {
    await what;
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
  }
};

export const driveTurns = async (engine: Engine, options: DriveOptions): Promise<void> => {
  const { projectId, signal } = options;
  const dropped = new Set<string>();
  const open = async (): Promise<number> =>
    withTestClient(options.url, async (client) => (await client.query<{ open: number }>(OPEN)).rows[0]?.open ?? 0);

  const think = async (work: Work): Promise<void> => {
    if (work.metadata.script === "drop" && work.stepCount === 0 && !dropped.has(work.agentTurnId)) {
      dropped.add(work.agentTurnId);
      return;
    }
    const stepId = stepIdOf(work.agentTurnId, work.stepCount + 1);
    await engine.turns.beginStep(work, stepId);
    const plan = planMove(work);
    if (plan === "finish") {
      await engine.turns.finish(work, { stepId, status: "success", deliverable: "done" });
      return;
    }
    const step = await engine.turns.commitStep(work, { stepId, entries: [{ card: thought(work) }, ...plan] });
    if (step.next === "running") await think({ ...work, stepCount: step.stepCount });
    else if (work.metadata.script === "stop") await engine.turns.stop({ ...work, actorId: "sys.pmo" });
  };

  const work = async (): Promise<void> => {
    const agents = await engine.turns.due([POOL], BATCH);
    await Promise.all(
      agents.map((agent) =>
        unharmed(
          engine.turns.advance({ ...agent, workerId: options.name, takeWork: true }).then(async (advanced) => {
            if (advanced.work !== undefined) await think(advanced.work);
          }),
        ),
      ),
    );
  };

  const serve = async (): Promise<void> => {
    const claimed = await engine.calls.claim({ projectId, target: "test", holder: options.name, max: BATCH });
    await Promise.all(claimed.map((leased) => unharmed(engine.calls.settle(resultFor(leased)))));
  };

  /** A turn of the kind that is stopped, whose worker died before it could: somebody else does it. */
  const stopOrphans = async (): Promise<void> => {
    const { items } = await engine.turns.list(projectId, { status: "suspended", limit: BATCH });
    for (const turn of items) {
      const [row] = await withTestClient(
        options.url,
        async (client) =>
          (
            await client.query<{ script: Script }>(
              "select metadata::json ->> 'script' as script from state.turns where agent_turn_id = $1",
              [turn.agentTurnId],
            )
          ).rows,
      );
      if (row?.script === "stop") await unharmed(engine.turns.stop({ ...turn, actorId: "sys.pmo" }));
    }
  };

  const tend = async (): Promise<void> => {
    await engine.expire(BATCH);
    await engine.tendTurns.lapsed(BATCH);
    await engine.tendTurns.unheard(BATCH);
    await engine.tendTurns.open(BATCH);
  };

  for (let round = 0; signal?.aborted !== true && (await open()) > 0; round++) {
    await unharmed(work());
    await unharmed(serve());
    await unharmed(stopOrphans());
    if (round % 3 === 0) await unharmed(tend());
    await options.mishap?.();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
};

export interface Audit {
  readonly turns: number;
  readonly open: number;
  readonly deliverables: number;
  readonly tasks: number;
  readonly doubled: number;
  readonly openCalls: number;
  readonly openRows: number;
  readonly openSteps: number;
  readonly busyHeads: number;
  readonly unfinished: readonly string[];
}

const AUDIT = `
select (select count(*)::int from state.turns) as turns,
       (select count(*)::int from state.turns where ended_at is null) as open,
       (select count(*)::int from cards.cards where type = 'task.deliverable') as deliverables,
       (select count(*)::int from bus.events where subject like '%.task') as tasks,
       (select count(*)::int from (select payload::json ->> 'agent_turn_id' from bus.events where subject like '%.task' group by 1 having count(*) > 1) d) as doubled,
       (select count(*)::int from state.calls where settled_at is null) as "openCalls",
       (select count(*)::int from state.inbox where archived_at is null and message_type in ('turn', 'ui_action', 'continuation')) as "openRows",
       (select count(*)::int from state.steps where ended_at is null) as "openSteps",
       (select count(*)::int from state.heads where status <> 'idle') as "busyHeads"`;

/** The cards of an output box, as a script leaves them; a stopped one may have been stopped anywhere. */
const EXPECTED: Readonly<Record<Exclude<Script, "stop">, string>> = {
  deliver: "agent.thought,tool.call,tool.call,tool.result,tool.call,tool.result,tool.result,task.deliverable",
  tool: "agent.thought,tool.call,tool.call,tool.result,tool.result,task.deliverable",
  drop: "agent.thought,tool.call,tool.result,agent.thought,tool.call,tool.result,task.deliverable",
};

const BOXES = `
select t.agent_turn_id, t.status, t.error_code, t.metadata::json ->> 'script' as script,
       string_agg(k.type, ',' order by b.position) as types
  from state.turns t
  join cards.box_cards b on b.project_id = t.project_id and b.box_id = t.output_box_id
  join cards.cards k on k.project_id = b.project_id and k.card_id = b.card_id
 group by 1, 2, 3, 4`;

/** What is left when all is quiet; `unfinished` names every turn that did not end as its script says. */
export const auditTurns = (url: string): Promise<Audit> =>
  withTestClient(url, async (client) => {
    const [counts] = (await client.query<Omit<Audit, "unfinished">>(AUDIT)).rows;
    const boxes = await client.query<{
      agent_turn_id: string;
      status: string;
      error_code: string | null;
      script: Script;
      types: string;
    }>(BOXES);
    const unfinished = boxes.rows.flatMap(({ agent_turn_id, status, error_code, script, types }) => {
      const sound =
        script === "stop"
          ? status === "failed" && error_code === "stopped" && types.endsWith("agent.error,task.deliverable")
          : status === "success" && types === EXPECTED[script];
      return sound ? [] : [`${agent_turn_id} (${script}) ended as ${status} ${error_code}: ${types}`];
    });
    if (counts === undefined) throw new RangeError("nothing to audit");
    return { ...counts, unfinished };
  });

export const soundAudit = (turns: number): Audit => ({
  turns,
  open: 0,
  deliverables: turns,
  tasks: turns,
  doubled: 0,
  openCalls: 0,
  openRows: 0,
  openSteps: 0,
  busyHeads: 0,
  unfinished: [],
});
