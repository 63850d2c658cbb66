// What a turn waits for, in one sentence: another turn of its agent, a worker, its brain, or the results of calls.

import { type CallView, type Engine, isSettled, type StepView, type TurnView } from "@toolplane/engine";
import { type PlaneProcess, type PlaneProcesses, UNKNOWN_PROCESSES } from "../up/plane-processes.ts";
import { having, planMissingRole } from "./role-problem.ts";

export interface TurnExplanation {
  /** One sentence; null for a turn that is over, unless the plane itself ended it. */
  readonly why: string | null;
  /** What to do about it, when there is something to do. */
  readonly todo: string | null;
}

export interface TurnFacts {
  readonly view: TurnView;
  readonly steps: readonly StepView[];
  readonly agent: { readonly status: string; readonly workerTarget: string } | undefined;
  /** Open turns of the agent, for one that is queued. */
  readonly ahead: TurnView | undefined;
  /** How many further turns of the agent are queued before this one. */
  readonly queuedAhead?: number | undefined;
  /** The processes of the plane, if they can be known. */
  readonly processes?: readonly PlaneProcess[] | undefined;
  /** The calls it waits for. */
  readonly calls: readonly Pick<CallView, "toolCallId" | "toolName" | "status">[];
}

const OVER: TurnExplanation = { why: null, todo: null };
/** More names do not help a reader of one sentence. */
const CALLS_SHOWN = 3;
/** The most a page of turns has. */
const QUEUE_SHOWN = 500;

const alsoAhead = (queued: number | undefined): string =>
  queued === undefined || queued === 0 ? "" : `, and ${queued} more ${queued === 1 ? "is" : "are"} ahead of this one`;

const whyQueued = ({ view, agent, ahead, queuedAhead }: TurnFacts): TurnExplanation =>
  ahead === undefined && agent?.status === "inactive"
    ? {
        why: `agent ${view.agentId} is inactive: its turns wait until it is active again`,
        todo: `toolplane agents activate ${view.agentId}`,
      }
    : ahead === undefined
      ? { why: `agent ${view.agentId} is idle; the turn begins in a moment`, todo: null }
      : {
          why: `agent ${view.agentId} is in turn ${ahead.agentTurnId} (${ahead.status}); its turns run one after the other${alsoAhead(queuedAhead)}`,
          todo: `toolplane turns show ${ahead.agentTurnId}`,
        };

const whyDispatched = ({ view, agent, processes }: TurnFacts): TurnExplanation => {
  if (agent === undefined)
    return {
      why: `agent ${view.agentId} is not in the roster any more`,
      todo: `toolplane turns stop ${view.agentTurnId}`,
    };
  const missing = planMissingRole("worker", processes);
  if (missing !== undefined) return missing;
  const workers = processes === undefined ? 0 : having("worker", processes).length;
  const who = workers === 0 ? "" : `; ${workers === 1 ? "1 process has" : `${workers} processes have`} the role worker`;
  // Which pools a process serves, and whose turns take its places, is not known here.
  return {
    why: `it waits for a worker of pool ${agent.workerTarget} to take it${who}; workers serve the agents of all projects`,
    todo: `if it stays so, either no server with the role worker serves pool ${agent.workerTarget} (TOOLPLANE_WORKER_TARGETS, or worker_targets in its configuration), or all their places are taken by other turns: toolplane up --roles worker --database-url URL starts another server`,
  };
};

const whySuspended = ({ view, calls }: TurnFacts): TurnExplanation => {
  const [first] = calls;
  if (first === undefined) return { why: "all results are in; the turn goes on in a moment", todo: null };
  const named = calls
    .slice(0, CALLS_SHOWN)
    .map(({ toolCallId, toolName, status }) => `${toolName} (${status}, call ${toolCallId})`)
    .join(", ");
  const more = view.waitingCount > CALLS_SHOWN ? ` and ${view.waitingCount - CALLS_SHOWN} more` : "";
  // A running call says only where it runs; a queued one may wait for a limit.
  const asked = calls.find(({ status }) => status === "queued") ?? first;
  const unapproved = calls.find(({ status }) => status === "awaiting_approval");
  return {
    why: `it waits for ${named}${more}`,
    todo:
      unapproved === undefined
        ? `toolplane why ${asked.toolCallId}`
        : `toolplane calls approve ${unapproved.toolCallId}, or deny it`,
  };
};

const LOST_HEAD_CODE = "resume_retry_exhausted";

const whyLost = ({ view }: TurnFacts): TurnExplanation => ({
  why: `the state of agent ${view.agentId} is gone, so no result can be applied; the turn ends as failed when what came for it was tried`,
  todo: `toolplane turns stop ${view.agentTurnId}, or wait`,
});

/** A turn that is over needs no explanation, except when the plane itself ended it. */
const whyOver = ({ status, error, errorCode }: TurnView): TurnExplanation =>
  errorCode === LOST_HEAD_CODE ? { why: `it ended as ${status}: ${error}`, todo: "ask the agent again" } : OVER;

/** Pure: the sentence for a turn. */
export const planTurnExplanation = (facts: TurnFacts): TurnExplanation => {
  const { view, steps } = facts;
  if (view.endedAt !== null) return whyOver(view);
  if (view.headLost) return whyLost(facts);
  if (view.status === "queued") return whyQueued(facts);
  if (view.status === "dispatched") return whyDispatched(facts);
  if (view.status === "suspended") return whySuspended(facts);
  const step = steps.at(-1);
  const since = step === undefined || step.endedAt !== null ? "" : ` since ${step.startedAt}`;
  return { why: `a worker thinks about step ${view.stepCount + 1}${since}`, todo: null };
};

/** Queued turns read their agent's open ones, suspended turns their open calls; the others need nothing more. */
export const explainTurn = async (
  engine: Pick<Engine, "turns" | "agents" | "calls">,
  view: TurnView,
  steps: readonly StepView[],
  planeProcesses: PlaneProcesses = UNKNOWN_PROCESSES,
): Promise<TurnExplanation> => {
  if (view.endedAt !== null) return whyOver(view);
  const { projectId, agentId } = view;
  const findAhead = async (): Promise<TurnView | undefined> => {
    for (const status of ["running", "suspended", "dispatched"] as const) {
      const { items } = await engine.turns.list(projectId, { agentId, status, limit: 1 });
      if (items[0] !== undefined) return items[0];
    }
    return undefined;
  };
  /** Ids sort by time. */
  const countAhead = async (): Promise<number> => {
    const { items } = await engine.turns.list(projectId, { agentId, status: "queued", limit: QUEUE_SHOWN });
    return items.filter(({ agentTurnId }) => agentTurnId < view.agentTurnId).length;
  };
  const openCalls = async (): Promise<CallView[]> => {
    const open: CallView[] = [];
    for (const toolCallId of steps.at(-1)?.toolCallIds ?? []) {
      const call = await engine.calls.get({ projectId, toolCallId }).catch(() => undefined);
      if (call !== undefined && !isSettled(call.status)) open.push(call);
      if (open.length === CALLS_SHOWN) break;
    }
    return open;
  };
  return planTurnExplanation({
    view,
    steps,
    agent:
      view.status === "dispatched" || view.status === "queued"
        ? await engine.agents.getAgent(projectId, agentId)
        : undefined,
    ahead: view.status === "queued" ? await findAhead() : undefined,
    queuedAhead: view.status === "queued" ? await countAhead() : undefined,
    processes: view.status === "dispatched" ? await planeProcesses.list() : undefined,
    calls: view.status === "suspended" ? await openCalls() : [],
  });
};
