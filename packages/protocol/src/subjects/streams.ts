// The transport classes: which stream captures what, for how long, and how durable consumers are named.
// No stream captures `str` and `rpc`: stream items may be lost, and requests are answered at once.

import { violation } from "../errors/toolplane-error.ts";
import { createPattern, type SubjectPattern } from "./pattern.ts";
import { PROTOCOL_VERSION } from "./subject.ts";
import { durableLabel, isToken, parseToken } from "./token.ts";

export type StreamCategory = "cmd" | "evt";

export interface StreamPlan {
  readonly name: string;
  readonly filter: SubjectPattern;
  readonly maxAgeSeconds: number;
}

/** The default time of a call in the queue. The command of a call that may wait for longer is published again from its row. */
const COMMAND_AGE_SECONDS = 24 * 60 * 60;
/** Observers may be away over a weekend. */
const EVENT_AGE_SECONDS = 7 * 24 * 60 * 60;

export const streamPlan = (category: StreamCategory): StreamPlan => ({
  name: `cg_${category}_${PROTOCOL_VERSION}`,
  filter: createPattern({ category }),
  maxAgeSeconds: category === "cmd" ? COMMAND_AGE_SECONDS : EVENT_AGE_SECONDS,
});

/** What a durable pull consumer uses unless told otherwise. Seconds, except the counts. */
export const CONSUMER_DEFAULTS = {
  ackWaitSeconds: 30,
  maxDeliver: 3,
  pullBatch: 1,
  maxInFlight: 1,
  fetchTimeoutSeconds: 5,
  /** A first short fetch, so that the consumer exists on the server before anything is published to it. */
  warmUpFetchSeconds: 0.1,
  deliverPolicy: "new",
  /** Services must not miss what was published while they were away. */
  serviceDeliverPolicy: "all",
} as const;

export interface StandingSubscription {
  readonly pattern: SubjectPattern;
  readonly durable: string;
}

/** Exactly one target: a wildcard here would take the work of every other service. */
const one = (target: string): string => parseToken(target, "target");

/** A worker pool's doorbell, over all projects. */
export const workerWakeupSubscription = (target: string): StandingSubscription => ({
  pattern: createPattern({ category: "cmd", component: "agent", target: one(target), suffix: "wakeup" }),
  durable: `agent_worker_${durableLabel(target)}_wakeup_${PROTOCOL_VERSION}`,
});

export const uiActionSubscription = (): StandingSubscription => ({
  pattern: createPattern({ category: "cmd", component: "sys", target: "ui", suffix: "action" }),
  durable: `ui_worker_ui_action_${PROTOCOL_VERSION}`,
});

export const pmoCommandSubscription = (): StandingSubscription => ({
  pattern: createPattern({ category: "cmd", component: "sys", target: "pmo" }),
  durable: `pmo_service_cmd_${PROTOCOL_VERSION}`,
});

export const taskEventSubscription = (): StandingSubscription => ({
  pattern: createPattern({ category: "evt", component: "agent", suffix: "task" }),
  durable: `pmo_batch_evt_task_${PROTOCOL_VERSION}`,
});

/**
 * The durable's name must give its project and target back: permissions are granted by that name. With two underscores in
 * a row, or one where the parts meet, `a__b` of `c` and `a` of `b__c` would share one durable.
 */
const isSeparable = (projectId: string, target: string): boolean =>
  isToken(projectId) &&
  isToken(target) &&
  !`${target}.${projectId}`.includes("__") &&
  !target.endsWith("_") &&
  !projectId.startsWith("_");

/**
 * The commands of one target in one project, actions of several tokens included; the engine keeps the consumer. Undefined
 * when the names cannot be told apart in a durable's name.
 */
export const tryToolCommandSubscription = (projectId: string, target: string): StandingSubscription | undefined =>
  isSeparable(projectId, target)
    ? {
        pattern: createPattern({ projectId, category: "cmd", component: "tool", target }),
        durable: `tool_${target}__${projectId}`,
      }
    : undefined;

export const toolCommandSubscription = (projectId: string, target: string): StandingSubscription => {
  const subscription = tryToolCommandSubscription(projectId, one(target));
  if (subscription === undefined)
    throw violation(
      `target ${target} of project ${projectId} cannot be served over NATS: neither name may have two underscores in a row, ` +
        "the target may not end with one, the project may not begin with one; rename the target, or serve it over HTTP",
    );
  return subscription;
};
