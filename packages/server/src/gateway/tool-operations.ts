// The definitions of a service's tools: look one up, register one.

import type { RegisteredTool } from "@toolplane/engine";
import { showName, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { ok, operation, plainText, type ServiceCaller } from "./service-request.ts";

/** A definition is written by hand. */
const MAX_DEFINITION_BYTES = 1024 * 1024;

export const toolBody = (tool: RegisteredTool): Record<string, unknown> => ({
  project_id: tool.projectId,
  ...tool.definition,
  version: tool.version,
  definition_hash: tool.definitionHash,
  status: tool.status,
  source: tool.source,
  updated_at: tool.updatedAt,
});

export const noTool = (projectId: string, toolName: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${projectId} has no tool ${showName(toolName)}`);

export const getTool = operation({
  body: z.strictObject({ tool_name: plainText }),
  async run({ engine, projectId, body }) {
    const tool = await engine.tools.getTool(projectId, body.tool_name);
    if (tool === undefined) throw noTool(projectId, body.tool_name);
    return ok(toolBody(tool));
  },
});

/** A tool service registers for its own targets only, and owns what it registers. */
const sourceOf = ({ named, targets }: ServiceCaller, upload: unknown): string | undefined => {
  if (targets === undefined) return undefined;
  const subject = String((upload as { target_subject?: unknown } | null)?.target_subject ?? "");
  const target = subject.split(".")[6] ?? "";
  if (!targets.includes(target))
    throw new ToolplaneError("auth_failed", `${named} registers tools for ${targets.join(", ")} only`);
  return `service:${target}`;
};

export const register = operation({
  maxBytes: MAX_DEFINITION_BYTES,
  // Whatever was uploaded: the engine says what is wrong with it.
  body: z.unknown(),
  async run({ engine, caller, projectId, body }) {
    const { toolName, outcome } = await engine.tools.upsertTool(projectId, body, { source: sourceOf(caller, body) });
    const tool = await engine.tools.getTool(projectId, toolName);
    if (tool === undefined) throw noTool(projectId, toolName);
    return { status: outcome === "created" ? 201 : 200, body: { ...toolBody(tool), outcome } };
  },
});
