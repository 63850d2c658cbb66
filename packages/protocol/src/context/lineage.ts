// Lineage as cards keep it: `step_id`, `trace_id`, `parent_step_id` in their metadata.

import { type CGContext, evolveContext } from "./context.ts";

/** A type, not an interface: it is written into metadata, which is any record. */
export type LineageMeta = {
  readonly step_id?: string;
  readonly trace_id?: string;
  readonly parent_step_id?: string;
};

/** The fields that are set. */
export const lineageMeta = (context: CGContext): LineageMeta => ({
  ...(context.stepId !== null ? { step_id: context.stepId } : {}),
  ...(context.traceId !== null ? { trace_id: context.traceId } : {}),
  ...(context.parentStepId !== null ? { parent_step_id: context.parentStepId } : {}),
});

const filled = (metadata: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
};

/** Takes the lineage of a card's metadata; fields that the card leaves empty are kept. */
export const withLineageMeta = (
  context: CGContext,
  metadata: Readonly<Record<string, unknown>> | null | undefined,
): CGContext =>
  metadata === null || metadata === undefined
    ? context
    : evolveContext(context, {
        stepId: filled(metadata, "step_id"),
        traceId: filled(metadata, "trace_id"),
        parentStepId: filled(metadata, "parent_step_id"),
      });
