// emit_marker: tells user interfaces that the current answer is a recommendation that can be adopted (F11). Every project
// starts with its definition; the event is written once per call, however often the call runs.

import type { Bus } from "@toolplane/bus";
import { egress, type TraceIds, uiMarkerSubject } from "@toolplane/protocol";
import type { MarkerEvent } from "@toolplane/protocol/agents";
import { defineTool, type Tool } from "@toolplane/sdk";
import { z } from "zod";

export interface EmitMarkerDeps {
  readonly bus: Pick<Bus, "publish">;
  readonly ids: TraceIds;
  readonly now: () => number;
}

export const createEmitMarker = ({ bus, ids, now }: EmitMarkerDeps): Tool =>
  defineTool({
    name: "emit_marker",
    description: "Mark the current answer for the user interface as a recommendation that can be adopted.",
    parameters: z.strictObject({ marker_type: z.string().default("adoptable_recommendation") }),
    retry: "safe",
    run: async ({ marker_type: markerType }, { call }) => {
      const { context, card, toolCallId } = call;
      const payload: MarkerEvent = {
        marker_type: markerType,
        tool_call_card_id: card.card_id,
        source_agent_id: context.agentId,
        trace_id: context.traceId ?? "",
        ts: new Date(now()).toISOString(),
      };
      await bus.publish([
        {
          subject: uiMarkerSubject(context),
          headers: egress(context, ids),
          payload: JSON.stringify(payload),
          messageId: `marker-${toolCallId}`,
        },
      ]);
      return { marker_type: markerType };
    },
  });
