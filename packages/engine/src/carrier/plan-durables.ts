// Which durables of commands a carrier must have, and which of them a command waits in. Pure.

import type { CommandDurable } from "@toolplane/bus";
import { isToken } from "@toolplane/protocol";
import { pmoCommandSubscription, type StandingSubscription, toolCommandSubscription } from "@toolplane/protocol/agents";

const durableOf = ({ durable, pattern }: StandingSubscription): CommandDurable => ({ durable, pattern: pattern.text });

const PMO = durableOf(pmoCommandSubscription());

/** One per target, and the project manager's; a target that cannot be one has no commands either. */
export const planDurables = (targets: readonly string[]): readonly CommandDurable[] => [
  PMO,
  ...targets.filter(isToken).map((target) => durableOf(toolCommandSubscription(target))),
];

const TOOL_PREFIX = "tool_";

/**
 * The targets of durables that are there for nothing: of the kind we make, and not of a registered tool. One that does not
 * spell its target, or that somebody else made, is not ours to judge.
 */
export const planLeftovers = (present: readonly string[], wanted: ReadonlySet<string>): readonly string[] =>
  present
    .filter((durable) => durable.startsWith(TOOL_PREFIX) && !wanted.has(durable))
    .map((durable) => durable.slice(TOOL_PREFIX.length))
    .filter((target) => durableFor("tool", target) === `${TOOL_PREFIX}${target}`);

/** Where a command to this receiver waits; undefined when no service of calls fetches it. */
export const durableFor = (component: string, target: string): string | undefined => {
  if (component === "sys") return target === "pmo" ? PMO.durable : undefined;
  return component === "tool" && isToken(target) ? toolCommandSubscription(target).durable : undefined;
};
