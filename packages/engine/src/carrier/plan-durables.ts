// Which durables of commands a carrier must have, and what holds the commands to one receiver. Pure.

import type { CommandDurable } from "@toolplane/bus";
import { createPattern, isToken, tryParseSubject } from "@toolplane/protocol";
import {
  pmoCommandSubscription,
  type StandingSubscription,
  tryToolCommandSubscription,
} from "@toolplane/protocol/agents";
import type { TargetKey } from "../sessions/session-targets.ts";

/** The receiver of a command. */
export interface Receiver extends TargetKey {
  readonly component: string;
}

const durableOf = ({ durable, pattern }: StandingSubscription): CommandDurable => ({ durable, pattern: pattern.text });

/** The project manager's, of all projects. */
export const PMO = durableOf(pmoCommandSubscription());

/** One per served pair, and the project manager's; a pair whose names would be ambiguous has none. */
export const planDurables = (served: readonly TargetKey[]): readonly CommandDurable[] => [
  PMO,
  ...served.flatMap(({ projectId, target }) => {
    const subscription = tryToolCommandSubscription(projectId, target);
    return subscription === undefined ? [] : [durableOf(subscription)];
  }),
];

const TOOL_PREFIX = "tool_";

/** A durable without a use. */
export interface Leftover extends CommandDurable {
  /** False: earlier versions kept one per target for all projects, and others serve its commands. */
  readonly isOfOnePair: boolean;
}

const PROJECT_TOKEN = 2;

/**
 * Durables for tool commands that are not of a served pair. Earlier versions kept one per target for all projects; those overlap
 * with ours, so they are included.
 */
export const planLeftovers = (
  present: readonly CommandDurable[],
  wanted: ReadonlyMap<string, string>,
): readonly Leftover[] =>
  present
    .filter(({ durable, pattern }) => {
      const { category, component } = tryParseSubject(pattern.replaceAll(/[*>]/g, "any")) ?? {};
      const isOfTools = durable.startsWith(TOOL_PREFIX) && category === "cmd" && component === "tool";
      return isOfTools && wanted.get(durable) !== pattern;
    })
    .map((left) => ({ ...left, isOfOnePair: left.pattern.split(".")[PROJECT_TOKEN] !== "*" }));

/** Where the commands to a receiver of calls are; undefined for other receivers. */
export const commandsOf = ({ component, projectId, target }: Receiver): CommandDurable | undefined => {
  if (component === "sys") return target === "pmo" ? PMO : undefined;
  if (component !== "tool" || !isToken(projectId) || !isToken(target)) return undefined;
  const subscription = tryToolCommandSubscription(projectId, target);
  if (subscription !== undefined) return durableOf(subscription);
  return { durable: "", pattern: createPattern({ projectId, category: "cmd", component: "tool", target }).text };
};
