// A retry policy that names a code which no error has is valid, because a tool may have codes of its own, and never retries. Said when the
// code is almost one of the error table.

import { ERROR_TABLE, nearest, type ToolDefinition } from "@toolplane/protocol";

/** A policy may not name it. */
const { outcome_unknown: _, ...NAMEABLE } = ERROR_TABLE;
const KNOWN = Object.keys(NAMEABLE);

const planCodeWarnings = ({ retry_policy: policy }: ToolDefinition["options"]): readonly string[] =>
  (policy?.codes ?? []).flatMap((code) => {
    const meant = Object.hasOwn(ERROR_TABLE, code) ? undefined : nearest(code.toLowerCase(), KNOWN);
    return meant === undefined
      ? []
      : [`retry_policy repeats failures with ${code}, which no error of the plane has; did you mean ${meant}?`];
  });

/** For an answer that shows a definition: nothing when there is nothing to say. */
export const codeWarnings = (options: ToolDefinition["options"]): { readonly warnings?: string[] } => {
  const warnings = planCodeWarnings(options);
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
};
