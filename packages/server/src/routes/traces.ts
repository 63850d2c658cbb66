// A trace: calls, steps and the turns they started, as one tree.

import { ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { text, textOrNull } from "../http/answers.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { PEOPLE, type Route, route } from "../http/route.ts";
import { planTree, traceNodeBody } from "../traces/trace-tree.ts";

export const traceRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/traces/:trace",
    roles: PEOPLE,
    gives: "work",
    summary: "Everything that came of one request, as one tree of turns, steps and calls.",
    answers: {
      200: z
        .strictObject({
          trace_id: text,
          tree: z.array(traceNodeBody),
          edges: z.array(z.strictObject({ from_turn_id: text, from_step_id: textOrNull, to_turn_id: text })),
          is_cut: z.boolean(),
        })
        .meta({ id: "Trace" }),
    },
    handle: async ({ engine, params, reply }) => {
      const projectId = params.project ?? "";
      const traceId = (params.trace ?? "").toLowerCase();
      const trace = await engine.traces.read(projectId, traceId);
      if (trace.turns.length === 0 && trace.calls.length === 0) {
        await refuseUnknownProject(engine, projectId);
        throw new ToolplaneError("not_found", "no call and no turn of this project has this trace id");
      }
      const edges = trace.turns.flatMap(({ agentTurnId, parentAgentTurnId, parentStepId }) =>
        parentAgentTurnId === null
          ? []
          : [{ from_turn_id: parentAgentTurnId, from_step_id: parentStepId, to_turn_id: agentTurnId }],
      );
      return reply(200, { trace_id: traceId, tree: planTree(trace), edges, is_cut: trace.isCut });
    },
  }),
];
