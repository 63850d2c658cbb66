// The project manager: the tools with which agents manage agents. They run through the same runner as every tool, on target `pmo`
// as `sys.pmo`; in addition they have the engine.
//
//   const pmo = createPmo({ engine });
//   const runner = createRunner({ gateway, executor: pmo.executor, ...PMO_SERVICE });
//   const listening = await pmo.listen();
//
//   PM1. Everything a tool does is one transaction under its call's lease: a repeated command, or a run that lost its lease,
//        makes no second child.
//   PM2. Task events only say when to look; the watchdogs look at every batch anyway. Without a bus beside the database there is
//        no listener: the process that ends a task's turn moves its batch on.
//   PM3. A command on the bus is only a bell: the tools run from rows. A command that breaks the protocol is terminated.

import { createIds, type Engine, type Ids, type JudgeCommand, PMO_ACTOR, sha256 } from "@toolplane/engine";
import {
  DEFAULT_TIMEOUT_SECONDS,
  type JsonObject,
  parseSubject,
  type ToolDefinition,
  tryParseJsonStrict,
  tryParseSubject,
} from "@toolplane/protocol";
import { parseTaskEvent, taskEventSubscription } from "@toolplane/protocol/agents";
import { FORK_JOIN_DEADLINE_SECONDS, forkJoinTasksOf, type PmoToolName } from "@toolplane/protocol/registry";
import { type Executor, type Log, silentLog, type ToolProfile } from "@toolplane/sdk";
import { planCommand } from "@toolplane/sdk/protocol";
import { errorTrace } from "../worker/error-trace.ts";
import { createDelegate, type PmoEngine, type PmoMeans } from "./delegate.ts";
import { createForkJoin } from "./fork-join.ts";
import { planRoute } from "./plan-route.ts";
import { parseDelegate, parseExpert, parseLaunch } from "./pmo-arguments.ts";
import { type PmoCall, pmoCallOf } from "./pmo-call.ts";
import { createProvision } from "./provision.ts";

/** How the project manager's runner is made: the commands it takes, and the name it answers under. */
export const PMO_SERVICE = { target: "pmo", component: "sys", actor: PMO_ACTOR } as const;

export interface PmoOptions {
  readonly engine: PmoEngine & Pick<Engine, "carried">;
  /** How long fork_join waits when the caller says nothing; 0 or less: seven days. */
  readonly deadlineSeconds?: number | undefined;
  readonly now?: (() => number) | undefined;
  readonly log?: Log | undefined;
}

export interface Listening {
  stop(): Promise<void>;
}

export interface Pmo {
  readonly executor: Executor;
  /** Moves batches on as their children end, until stopped. */
  listen(): Promise<Listening>;
}

const EVENTS_AT_ONCE = 32;
const HANDLERS_AT_ONCE = 8;

const PROFILE: ToolProfile = {
  retry: "safe",
  timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
  pin: "record",
  control: "allow",
  secrets: [],
  envs: {},
};

/** Which clause a command on the bus breaks, and how; undefined when it breaks none. */
const faultOf = (command: Parameters<JudgeCommand>[0], ids: Ids): string | undefined => {
  const projectId = tryParseSubject(command.subject)?.projectId ?? "";
  const read = { ...command, payload: tryParseJsonStrict(command.payload) };
  const plan = planCommand(read, { projectId, target: PMO_SERVICE.target, component: PMO_SERVICE.component }, ids);
  if (plan.kind === "accept") return undefined;
  return plan.kind === "ignore" ? plan.reason : `${plan.clause}: ${plan.error.message}`;
};

export const createPmo = (options: PmoOptions): Pmo => {
  const { engine, log = silentLog, now = Date.now } = options;
  const ids = createIds(now);
  const means: PmoMeans = { engine, uuid: ids.uuid, now, sha256 };
  const delegate = createDelegate(means);
  const forkJoin = createForkJoin(means, options.deadlineSeconds ?? FORK_JOIN_DEADLINE_SECONDS);
  const provision = createProvision(means);

  const tools: Readonly<
    Record<PmoToolName, (call: PmoCall, args: JsonObject, definition: ToolDefinition) => Promise<unknown>>
  > = {
    delegate_async: (call, args) => delegate(call, { task: parseDelegate(args) }),
    launch_principal: (call, args) => delegate(call, { task: parseLaunch(args) }),
    ask_expert: (call, args) => delegate(call, parseExpert(args)),
    // The definition carries the project's limit.
    fork_join: (call, args, { parameters }) => forkJoin(call, args, forkJoinTasksOf(parameters)),
    provision_agent: provision,
  };

  return {
    executor: {
      // The handler gets every command; the route refuses those that are not for the project manager.
      find: () => PROFILE,
      async execute(call) {
        const tool = await engine.tools.getTool(call.context.projectId, call.toolName, true);
        const name = planRoute(call, tool?.definition);
        // The route has refused a call whose definition is gone.
        return tools[name](pmoCallOf(call), call.arguments, tool?.definition as ToolDefinition);
      },
    },
    async listen() {
      const { carried } = engine;
      if (carried === undefined) return { stop: async () => {} };
      const stopInspecting = carried.inspect((command) => faultOf(command, ids));
      const { pattern, durable } = taskEventSubscription();
      const consumer = await carried.consume(
        {
          pattern: pattern.text,
          durable,
          category: "evt",
          deliver: "new",
          batch: EVENTS_AT_ONCE,
          maxInFlight: HANDLERS_AT_ONCE,
        },
        async ({ subject, payload }) => {
          try {
            const { agent_turn_id: agentTurnId } = parseTaskEvent(JSON.parse(payload));
            await engine.batches.turnEnded(parseSubject(subject).projectId, agentTurnId);
          } catch (error) {
            // A bell without work is not a dead letter; the next look finds what it was about.
            log.warn("a task event could not be followed", { subject, ...errorTrace(error) });
          }
        },
      );
      return {
        async stop() {
          stopInspecting();
          await consumer.stop();
        },
      };
    },
  };
};
