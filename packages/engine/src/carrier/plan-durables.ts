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

/** Where a command to this receiver waits; undefined when no service of calls fetches it. */
export const durableFor = (component: string, target: string): string | undefined => {
  if (component === "sys") return target === "pmo" ? PMO.durable : undefined;
  return component === "tool" && isToken(target) ? toolCommandSubscription(target).durable : undefined;
};
