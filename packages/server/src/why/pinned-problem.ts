// Why a call of a tool with `pin: strict` waits although its target has services: none of them runs the version it was made under.

import type { CallView, Engine, SeenService } from "@toolplane/engine";

/** A pinned call for which no service is known. */
export interface PinnedProblem {
  /** Services of the target that asked for work lately; they run other versions, or do not say which. */
  readonly others: number;
  /** How many of them name no version at all. */
  readonly silent: number;
}

/** Undefined when the call is not pinned, or a service that may run it asked for work lately. */
export const findPinnedProblem = async (
  { calls }: Pick<Engine, "calls">,
  view: CallView,
  services: readonly SeenService[],
): Promise<PinnedProblem | undefined> => {
  if (view.status !== "queued") return undefined;
  const pin = await calls.pin(view);
  if (pin === undefined) return undefined;
  for (const { definitions } of services) if (await calls.mayRun(view.projectId, definitions, pin)) return undefined;
  return { others: services.length, silent: services.filter(({ definitions }) => definitions === undefined).length };
};

/** The sentence, and what to do. Pure. */
export const planPinnedWhy = (
  { others, silent }: PinnedProblem,
  { toolName, toolVersion, target, toolCallId }: CallView,
  givesUp: string,
): readonly [string, string] => {
  const version = `version ${toolVersion} of ${toolName}`;
  const who =
    others === 0
      ? `no service of target ${target} has asked for work lately`
      : `of the services of target ${target} that asked for work lately (${others}), none runs that version`;
  const unnamed = silent === 0 ? "" : `; ${silent} of them name no version (definitions)`;
  return [
    `it waits for a service that runs ${version}, under which it was made (pin: strict), and ${who}${unnamed}; it gives up at ${givesUp}`,
    `start a service with ${version} again, or give the call up: toolplane calls cancel ${toolCallId}`,
  ];
};
