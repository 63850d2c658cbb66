// Who reads an explanation: an agent's token is told of the calls of others only how many they are.

import type { CallView, Engine } from "@toolplane/engine";
import { type ShownHold, showHold } from "./limit-problem.ts";

export interface WhyReader {
  readonly isAgent: boolean;
  /** Those of these calls that the reader may see. */
  seen(toolCallIds: readonly string[]): Promise<ReadonlySet<string>>;
}

export const PERSON: WhyReader = { isAgent: false, seen: async (ids) => new Set(ids) };

/** The limit that holds a queued call, as its reader may see it. */
export const holdOf = async (
  { calls }: Pick<Engine, "calls">,
  view: CallView,
  reader: WhyReader,
): Promise<ShownHold | undefined> => {
  const held = view.status === "queued" ? await calls.heldBack(view) : undefined;
  return held && showHold(held, await reader.seen(held.slots.map(({ toolCallId }) => toolCallId)));
};
