// Why a call is where it is, and what it waits for: one sentence, then the facts behind it.

import {
  type BatchView,
  batchHolder,
  batchIdOf,
  type CallKey,
  type CallView,
  type Engine,
  isSettled,
  type QueuePlace,
  type WaitingCommand,
} from "@toolplane/engine";
import { isRecord } from "@toolplane/protocol";
import { z } from "zod";
import { parametersOf, planShownArguments } from "../calls/shown-arguments.ts";
import type { UpRole } from "../config/settings.ts";
import { type HostProblem, NO_TOOL_HOSTS, type ToolHosts } from "../hosts/tool-hosts.ts";
import { anyObject, type BodyOf, text, textOrNull } from "../http/answers.ts";
import { describeProcess, type PlaneProcess, type PlaneProcesses, UNKNOWN_PROCESSES } from "../up/plane-processes.ts";
import { adviceForCall, lookInLog } from "./call-advice.ts";
import { limitFacts, planLimitWhy, type ShownHold } from "./limit-problem.ts";
import { planOwnServiceWhy } from "./own-service-problem.ts";
import { findPinnedProblem, type PinnedProblem, planPinnedWhy } from "./pinned-problem.ts";
import { planPlainWhy, SEE_NATS } from "./plain-problem.ts";
import { placeText } from "./queue-words.ts";
import { isHostTarget, planRoleProblem, roleServing, sharedRoleOf } from "./role-problem.ts";
import { holdOf, PERSON, type WhyReader } from "./why-reader.ts";

export const explanationBody = z
  .strictObject({
    tool_call_id: text,
    status: text,
    why: text.meta({ description: "One sentence a person can act on." }),
    todo: textOrNull.meta({ description: "What to do about it, when there is something to do." }),
    facts: anyObject,
  })
  .meta({ id: "Explanation" });

export type Explanation = BodyOf<typeof explanationBody>;

export interface WhyFacts {
  readonly view: CallView;
  readonly nowMs: number;
  readonly toolStatus: string | undefined;
  /** How many services asked for work of this target lately. */
  readonly consumers: number;
  /** Its target is one of the plane's own: the processes with this role serve it for all projects. */
  readonly ownRole?: UpRole | undefined;
  /** When one of them asked last, if nothing else is known of them. */
  readonly lastAskedMs?: number | undefined;
  /** The processes of the plane, if they can be known. */
  readonly processes?: readonly PlaneProcess[] | undefined;
  /** All services that asked for work of this target are given only calls that may run again. */
  readonly onlySafe?: boolean | undefined;
  /** How many requests for work of this target wait on NATS. */
  readonly waitingOnBus?: number | undefined;
  /** NATS carries the messages, and is not there. */
  readonly busAway?: boolean | undefined;
  /** The plane was started without NATS. */
  readonly noNats?: boolean | undefined;
  /** Why the host of this tool does not run, if it does not. */
  readonly hostProblem?: HostProblem | undefined;
  /** The processes that run the host of this tool, when this process does not and cannot know its state. */
  readonly hostProcesses?: readonly PlaneProcess[] | undefined;
  /** How many calls of the target run, and how many start before this one. */
  readonly place?: QueuePlace | undefined;
  /** What the failed call's error says. */
  readonly error?: string | undefined;
  readonly errorDetail?: unknown;
  /** The services that had it before and went away, when it is offered again. */
  readonly lostBefore?: readonly string[] | undefined;
  /** As people may see them. */
  readonly arguments?: unknown;
  readonly deadLetterId: string | undefined;
  /** No service is known that runs the version it is pinned to. */
  readonly pinnedProblem?: PinnedProblem | undefined;
  /** Its command, while the command is in the outbox. */
  readonly command?: WaitingCommand | undefined;
  /** The batch that holds it, if one does. */
  readonly batch?: BatchView | undefined;
  /** The limit that holds it back, if one does. */
  readonly heldBack?: ShownHold | undefined;
  /** The code with which its last attempt failed, when it is tried again. */
  readonly failedWith?: string | undefined;
}

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))} s`;

const until = (date: Date | null, nowMs: number): string =>
  date === null ? "an unknown time" : `${date.toISOString()} (in ${seconds(date.getTime() - nowMs)})`;

/** Where else the target may have services: an API process knows only the services that ask it for work. */
const elsewhere = (processes: readonly PlaneProcess[] = []): string =>
  processes.filter(({ roles }) => roles.includes("api")).length > 1 ? " at this process" : "";

const AWAY = "; NATS is away, and a service that only knows NATS hears of the call when it is back";

/** The bus may lose a command, so it is published again, with pauses that double up to a quarter of an hour. */
const saidAgain = ({ publishes }: CallView): string =>
  publishes > 1 ? `; its command was sent ${publishes} times over NATS, each time later than before` : "";

/** A waiting service asks every twenty seconds by default; one that is silent for longer may be gone. */
const QUIET_MS = 35_000;

const lastAsked = ({ lastAskedMs, nowMs }: WhyFacts): string =>
  lastAskedMs === undefined || nowMs - lastAskedMs < QUIET_MS
    ? ""
    : `; the last of them asked for work ${seconds(nowMs - lastAskedMs)} ago and may be gone`;

const whyQueued = (facts: WhyFacts): readonly [string, string | null] => {
  const { view, nowMs, toolStatus, consumers, hostProblem, hostProcesses = [], processes, busAway = false } = facts;
  if (toolStatus === "paused")
    return [
      `${view.toolName} is paused: the call waits until a person resumes the tool`,
      `toolplane tools resume ${view.toolName}`,
    ];
  if (view.availableAt !== null && view.availableAt.getTime() > nowMs)
    return view.attempts > 0
      ? [
          facts.failedWith === undefined
            ? `its service was not heard in time (attempt ${view.attempts}); it is offered again at ${until(view.availableAt, nowMs)}`
            : `attempt ${view.attempts} failed with ${facts.failedWith}; by the retry policy of ${view.toolName}, attempt ${view.attempts + 1} may start at ${until(view.availableAt, nowMs)}`,
          null,
        ]
      : [`it is for later: it is offered at ${until(view.availableAt, nowMs)}`, null];
  if (hostProblem !== undefined)
    return [
      `${hostProblem.why}; the call waits until it is ready, and gives up at ${until(view.queueDeadline, nowMs)}`,
      hostProblem.todo,
    ];
  const missing = planRoleProblem(view.target, processes);
  if (missing !== undefined)
    return [
      `${missing.why}; the call waits until there is one, and gives up at ${until(view.queueDeadline, nowMs)}`,
      missing.todo,
    ];
  if (hostProcesses.length > 0) {
    const who = hostProcesses.map(describeProcess).join(" or ");
    return [
      `it waits for the host of target ${view.target}, which ${who} runs, and gives up at ${until(view.queueDeadline, nowMs)}`,
      `if it stays so, see what the log of ${who} says of the host`,
    ];
  }
  if (facts.heldBack !== undefined) {
    const [why, todo] = planLimitWhy({ ...facts.heldBack, projectId: view.projectId, nowMs, place: facts.place });
    if (view.plain || consumers > 0 || (facts.waitingOnBus ?? 0) > 0) return [why, todo];
    return [
      `${why}; and no service for target ${view.target} has asked for work lately`,
      `start a service for target ${view.target}; ${todo}`,
    ];
  }
  if (view.plain) return planPlainWhy(facts, (date) => until(date, nowMs));
  if (facts.pinnedProblem !== undefined)
    return planPinnedWhy(facts.pinnedProblem, view, until(view.queueDeadline, nowMs));
  const { waitingOnBus = 0 } = facts;
  if (facts.onlySafe === true && !view.retrySafe && waitingOnBus === 0) {
    const waiting = consumers === 1 ? "the 1 service" : `the ${consumers} services`;
    return [
      `${view.toolName} may not run twice, and ${waiting} of target ${view.target} that asked for work lately ${consumers === 1 ? "waits" : "wait"} for calls on NATS, where such calls are not handed out; it needs a service that fetches commands, or one over HTTP, and gives up at ${until(view.queueDeadline, nowMs)}`,
      `start a service for target ${view.target} that fetches commands: one of the SDK does when it has a tool that is not retry: safe`,
    ];
  }
  if (consumers === 0 && waitingOnBus > 0)
    return [
      `services of target ${view.target} wait on NATS for commands (${waitingOnBus === 1 ? "1 open fetch" : `${waitingOnBus} open fetches`}), and none has leased it yet; it gives up at ${until(view.queueDeadline, nowMs)}${saidAgain(view)}`,
      `if it stays so, see that a service of project ${view.projectId} is among them, and what its log says`,
    ];
  if (consumers === 0)
    return [
      `no service for target ${view.target} has asked for work lately${elsewhere(processes)}; the call was made ${seconds(nowMs - view.createdAt.getTime())} ago and gives up at ${until(view.queueDeadline, nowMs)}${saidAgain(view)}${busAway ? AWAY : ""}`,
      busAway ? SEE_NATS : `start a service for target ${view.target}`,
    ];
  const alone = view.session === null ? "" : ", those of its session one after the other";
  if (facts.ownRole !== undefined)
    return planOwnServiceWhy({ ...facts, services: consumers, role: facts.ownRole, away: busAway ? AWAY : "" });
  const services = consumers === 1 ? "1 service" : `${consumers} services`;
  const place = facts.place === undefined ? "" : `; ${placeText(facts.place)}`;
  return [
    `it waits its turn: ${services} of target ${view.target} ${consumers === 1 ? "takes" : "take"} calls${alone}${place}${lastAsked(facts)}${busAway ? AWAY : ""}`,
    busAway ? SEE_NATS : null,
  ];
};

/** What the queue says, and where to look when a service went away with the call before. */
const whyOffered = (facts: WhyFacts): readonly [string, string | null] => {
  const [why, todo] = whyQueued(facts);
  const logs = (facts.lostBefore ?? []).map(lookInLog);
  const all = [...(todo === null ? [] : [todo]), ...logs].join("; ");
  return [why, all === "" ? null : all];
};

type Task = BatchView["tasks"][number];

const isOpen = ({ status }: Task): boolean => status === "pending" || status === "dispatched";

/** More names do not help a reader of one sentence; the facts have them all. */
const TASKS_SHOWN = 3;

const taskText = ({ taskIndex, agentId, agentTurnId, error }: Task): string =>
  agentTurnId === null
    ? `task ${taskIndex} for agent ${agentId}, not given to it yet${error === null ? "" : ` (${error})`}`
    : `task ${taskIndex} in turn ${agentTurnId}`;

const whyParked = ({ tasks, batchId, deadlineAt }: BatchView, nowMs: number): readonly [string, string | null] => {
  const open = tasks.filter(isOpen);
  if (open.length === 0) return [`all ${tasks.length} tasks of ${batchId} have ended; it settles in a moment`, null];
  const named = open.slice(0, TASKS_SHOWN).map(taskText).join(", ");
  const more = open.length > TASKS_SHOWN ? ` and ${open.length - TASKS_SHOWN} more` : "";
  const turn = open.find(({ agentTurnId }) => agentTurnId !== null)?.agentTurnId;
  return [
    `it waits for ${open.length} of the ${tasks.length} tasks of ${batchId}: ${named}${more}; what has not ended by ${until(deadlineAt, nowMs)} is stopped`,
    turn === undefined || turn === null ? null : `toolplane turns show ${turn}`,
  ];
};

const whyRunning = (facts: WhyFacts): readonly [string, string | null] => {
  const { view, nowMs, batch } = facts;
  if (batch !== undefined) return whyParked(batch, nowMs);
  if (view.plain && view.leaseHolder === null) return planPlainWhy(facts, (date) => until(date, nowMs));
  const lapsed = view.leaseExpiresAt !== null && view.leaseExpiresAt.getTime() < nowMs;
  if (lapsed)
    return [
      `${view.leaseHolder ?? "a service"} had the call and was not heard from in time; the call ${view.retrySafe ? "is offered again in a moment" : "ends as outcome_unknown in a moment"}`,
      view.leaseHolder === null ? null : lookInLog(view.leaseHolder),
    ];
  return [
    `${view.leaseHolder} runs it, with a lease until ${until(view.leaseExpiresAt, nowMs)} and at most until ${until(view.runDeadline, nowMs)}`,
    null,
  ];
};

const whySettled = ({ view, deadLetterId, error, errorDetail, nowMs }: WhyFacts): readonly [string, string | null] => {
  const { toolCallId, status, errorCode, settledBy, settledAt } = view;
  const when = settledAt === null ? "" : ` ${seconds(nowMs - settledAt.getTime())} ago`;
  if (errorCode === null) return [`it ended${when}, settled by ${settledBy}`, null];
  const said = error === undefined ? errorCode : `${errorCode}: ${error}`;
  const advice = adviceForCall(errorCode, toolCallId, errorDetail);
  const how = status === "failed" ? "it failed" : `it ended as ${status}`;
  return [
    `${how}${when} with ${said}; settled by ${settledBy}`,
    deadLetterId === undefined
      ? advice
      : `${advice}, or replay its dead letter with: toolplane dead replay ${deadLetterId}`,
  ];
};

const batchFacts = ({ batchId, tasks, deadlineAt }: BatchView) => ({
  batch_id: batchId,
  deadline_at: deadlineAt.toISOString(),
  tasks: tasks.map(({ taskIndex, status, agentId, agentTurnId, error }) => ({
    task_index: taskIndex,
    status,
    agent_id: agentId,
    agent_turn_id: agentTurnId,
    error,
  })),
});

/** What a person may still ask about a call that is over. The lease, the queue and the services of its target are history then. */
const settledFacts = ({ view, ...facts }: WhyFacts) => ({
  tool_name: view.toolName,
  ...(facts.arguments === undefined ? {} : { arguments: facts.arguments }),
  target: view.target,
  attempts: view.attempts,
  created_at: view.createdAt.toISOString(),
  settled_at: view.settledAt?.toISOString() ?? null,
});

const openFacts = ({ view, ...facts }: WhyFacts) => ({
  tool_name: view.toolName,
  ...(facts.arguments === undefined ? {} : { arguments: facts.arguments }),
  tool_status: facts.toolStatus ?? "deleted",
  target: view.target,
  attempts: view.attempts,
  retry_safe: view.retrySafe,
  lease_holder: view.leaseHolder,
  lease_expires_at: view.leaseExpiresAt?.toISOString() ?? null,
  run_deadline: view.runDeadline?.toISOString() ?? null,
  queue_deadline: view.queueDeadline.toISOString(),
  consumers: facts.consumers,
  ...(facts.place === undefined ? {} : { running: facts.place.running, ahead: facts.place.ahead }),
  ...(facts.waitingOnBus === undefined ? {} : { open_fetches: facts.waitingOnBus }),
  commands_sent: view.publishes,
  ...(facts.command === undefined
    ? {}
    : { in_outbox: { tries: facts.command.tries, due_at: facts.command.dueAt.toISOString() } }),
  created_at: view.createdAt.toISOString(),
  ...(facts.batch === undefined ? {} : { batch: batchFacts(facts.batch) }),
  ...(facts.heldBack === undefined ? {} : { limit: limitFacts(facts.heldBack) }),
  ...(facts.failedWith === undefined ? {} : { last_failure: facts.failedWith }),
});

/** Pure: the sentence for a call. */
export const planExplanation = (facts: WhyFacts): Explanation => {
  const { view } = facts;
  const [why, todo] = isSettled(view.status)
    ? whySettled(facts)
    : view.status === "running"
      ? whyRunning(facts)
      : view.status === "awaiting_approval"
        ? [
            `it waits for a person to approve it, until ${until(view.queueDeadline, facts.nowMs)}`,
            `toolplane calls approve ${view.toolCallId}`,
          ]
        : whyOffered(facts);
  return {
    tool_call_id: view.toolCallId,
    status: view.status,
    why,
    todo,
    facts: isSettled(view.status) ? settledFacts(facts) : openFacts(facts),
  };
};

const errorOf = (error: unknown): Pick<WhyFacts, "error" | "errorDetail"> =>
  isRecord(error)
    ? { error: typeof error.message === "string" ? error.message : undefined, errorDetail: error.detail }
    : {};

/** How many calls are searched for others of the same target. */
const NEWEST = 500;

/** Services that asked another process for work, or took it from NATS, are known only by the calls they run. */
const holdersOf = async (engine: Engine, { projectId, target }: CallView): Promise<number> => {
  const newest = await engine.calls.list(projectId, { limit: NEWEST });
  const running = newest.filter((call) => call.status === "running" && call.target === target);
  return new Set(running.map(({ leaseHolder }) => leaseHolder)).size;
};

/** How the attempts before ended: the last one failed with a code, or its service was lost. */
const failuresBefore = async (
  { calls }: Pick<Engine, "calls">,
  view: CallView,
): Promise<Pick<WhyFacts, "failedWith" | "lostBefore">> => {
  const leases = await calls.leases(view);
  const last = leases.at(-1);
  const lapsed = leases.filter(({ ended }) => ended === "lapsed");
  return {
    failedWith: last?.ended === "failed" ? (last.errorCode ?? "an unknown error") : undefined,
    lostBefore: last?.ended === "lapsed" ? [...new Set(lapsed.map(({ holder }) => holder ?? "?"))] : undefined,
  };
};

export const explainCall = async (
  engine: Engine,
  key: CallKey,
  toolHosts: Pick<ToolHosts, "problemOf"> = NO_TOOL_HOSTS,
  planeProcesses: PlaneProcesses = UNKNOWN_PROCESSES,
  reader: WhyReader = PERSON,
): Promise<Explanation> => {
  const view = await engine.calls.get(key);
  const cards = await engine.cards.getCards(key.projectId, [view.callCardId, view.resultCardId]);
  const card = cards.find(({ card_id: id }) => id === view.callCardId);
  const result = cards.find(({ card_id: id }) => id === view.resultCardId)?.content;
  const tool = await engine.tools.getTool(key.projectId, view.toolName, true);
  const letter = isSettled(view.status) ? await engine.deadLetters.ofCall(key.projectId, key.toolCallId) : undefined;
  const batchId = batchIdOf(view.toolCallId);
  const parked = view.status === "running" && view.leaseHolder === batchHolder(batchId);
  const processes = view.status === "queued" ? await planeProcesses.list() : undefined;
  const services = engine.calls.services(key.projectId, view.target);
  const seen = services.length;
  const serving = roleServing(view.target, processes);
  const served = Math.max(seen, serving.length);
  const consumers = served === 0 && view.status === "queued" ? await holdersOf(engine, view) : served;
  const isAlone = consumers === 0 && view.status === "queued";
  const onlySafe = seen > 0 && serving.length === 0 && services.every(({ safeOnly }) => safeOnly === true);
  return planExplanation({
    view,
    batch: parked ? await engine.batches.get({ projectId: key.projectId, batchId }) : undefined,
    place: view.status === "queued" ? await engine.calls.queuePlace(view) : undefined,
    ...(result?.__type__ === "ToolResultContent" ? errorOf(result.error) : {}),
    arguments: card && planShownArguments(card, await parametersOf(engine, view), reader.isAgent)?.arguments,
    nowMs: await engine.databaseNow(),
    toolStatus: tool?.status,
    // The plane's own targets are served by every process with the role, not only by those that asked this process.
    consumers,
    ownRole: serving.length > 0 ? sharedRoleOf(view.target) : undefined,
    lastAskedMs:
      seen > 0 && serving.length === 0 ? Math.max(...services.map(({ lastSeenMs }) => lastSeenMs)) : undefined,
    onlySafe,
    // A service on NATS may have named itself to another process only.
    waitingOnBus:
      isAlone || (onlySafe && !view.retrySafe && view.status === "queued")
        ? await planeProcesses.waitingOnBus?.(view)
        : undefined,
    processes,
    busAway: planeProcesses.busAway(),
    noNats: planeProcesses.noNats?.(),
    deadLetterId: letter?.deadLetterId,
    pinnedProblem: await findPinnedProblem(engine, view, services),
    command: view.settledAt === null && view.plain ? await engine.calls.waitingCommand(view) : undefined,
    heldBack: await holdOf(engine, view, reader),
    ...(view.status === "queued" && view.attempts > 0 ? await failuresBefore(engine, view) : {}),
    hostProblem: toolHosts.problemOf(key.projectId, view.target),
    hostProcesses: seen === 0 && isHostTarget(view.target) ? serving : [],
  });
};
