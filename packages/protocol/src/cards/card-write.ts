// What a second write of a card id means. A card never changes (I7): the same card again is a replay, anything else under
// its id is a conflict, and a card of another project is never touched or described.

import { ToolplaneError } from "../errors/toolplane-error.ts";

export interface CardFingerprint {
  readonly projectId: string;
  readonly hash: string;
}

export type CardWritePlan =
  | { readonly action: "insert" }
  | { readonly action: "keep" }
  | { readonly action: "refuse"; readonly error: ToolplaneError };

export const planCardWrite = (existing: CardFingerprint | undefined, incoming: CardFingerprint): CardWritePlan => {
  if (existing === undefined) return { action: "insert" };
  if (existing.projectId === incoming.projectId && existing.hash === incoming.hash) return { action: "keep" };
  return { action: "refuse", error: new ToolplaneError("conflict", "the card id is taken by other content") };
};
