// The definitions that calls were made with, for executors that run definitions.
//   DM1. What runs is what the call was made with: a definition is used only when its hash is the one that the call's card names.
//        A tool that was changed or deleted since then changes nothing for the call.
//   DM2. A definition is read once and kept by its hash. The memory is bounded by the size of what it keeps.

import {
  definitionText,
  type HashText,
  isFilled,
  type JsonObject,
  type ToolDefinition,
  ToolplaneError,
} from "@toolplane/protocol";
import type { DefinitionRef, Patience, ToolGateway } from "../gateway/gateway.ts";
import type { PinnedDefinition } from "./executor.ts";

/** A definition has at most 256 KiB; most have a few. */
const MAX_CHARS = 16 * 1024 * 1024;

export interface PinnedRef extends DefinitionRef {
  readonly definitionHash: string;
}

export interface DefinitionMemory {
  /** Throws `not_found` when there is no such version, `definition_changed` when it has another hash. */
  read(ref: PinnedRef, gateway: Pick<ToolGateway, "readDefinition">, patience?: Patience): Promise<PinnedDefinition>;
}

/** The version that a call's card names. */
export const planDefinitionRef = (toolName: string, metadata: JsonObject): PinnedRef => {
  const { tool_version: version, definition_hash: definitionHash } = metadata;
  if (typeof version === "number" && isFilled(definitionHash)) return { toolName, version, definitionHash };
  throw new ToolplaneError("protocol_violation", `the card of the call does not name the version of ${toolName}`);
};

interface Kept {
  readonly pinned: PinnedDefinition;
  readonly chars: number;
}

export const createDefinitionMemory = (sha256: HashText, maxChars: number = MAX_CHARS): DefinitionMemory => {
  // A Map lists its keys in order of insertion: what was used last is put back at the end.
  const kept = new Map<string, Kept>();
  let chars = 0;

  const keep = (entry: Kept): void => {
    const { definitionHash } = entry.pinned;
    chars += entry.chars - (kept.get(definitionHash)?.chars ?? 0);
    kept.delete(definitionHash);
    kept.set(definitionHash, entry);
    for (const [oldest, { chars: weight }] of kept) {
      if (chars <= maxChars) return;
      kept.delete(oldest);
      chars -= weight;
    }
  };

  const check = (definition: ToolDefinition | undefined, { toolName, version, definitionHash }: PinnedRef): Kept => {
    if (definition === undefined)
      throw new ToolplaneError("not_found", `version ${version} of ${toolName}, which the call was made with, is gone`);
    const text = definitionText(definition);
    if (sha256(text) !== definitionHash)
      throw new ToolplaneError(
        "definition_changed",
        `version ${version} of ${toolName} is not what the call was made with`,
      );
    return { pinned: { definition, definitionHash }, chars: text.length };
  };

  return {
    async read(ref, gateway, patience) {
      const known = kept.get(ref.definitionHash);
      const entry = known ?? check(await gateway.readDefinition(ref, patience), ref);
      keep(entry);
      return entry.pinned;
    },
  };
};
