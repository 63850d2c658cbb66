// The definitions of a service's tools: look one up, register one.

import type { Engine, PendingVersion, RegisteredTool } from "@toolplane/engine";
import { showName, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import {
  ok,
  operation,
  plainText,
  type ServiceAnswer,
  type ServiceCaller,
  type ServiceRequest,
} from "./service-request.ts";

/** A definition is written by hand. */
const MAX_DEFINITION_BYTES = 1024 * 1024;

/** As large as the column of versions. */
export const MAX_VERSION = 2 ** 31 - 1;

export const pendingBody = (pending: PendingVersion): Record<string, unknown> => ({
  version: pending.version,
  definition_hash: pending.definitionHash,
  source: pending.source,
  created_at: pending.createdAt,
  weakens: pending.weakens,
  changes: pending.changes,
});

export const toolBody = (tool: RegisteredTool): Record<string, unknown> => ({
  project_id: tool.projectId,
  ...tool.definition,
  version: tool.version,
  definition_hash: tool.definitionHash,
  status: tool.status,
  source: tool.source,
  updated_at: tool.updatedAt,
  guarded_version: tool.guardedVersion,
  ...(tool.pending === undefined ? {} : { pending: pendingBody(tool.pending) }),
  ...(tool.deletedBy === null ? {} : { deleted_by: tool.deletedBy }),
});

export const noTool = (projectId: string, toolName: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${projectId} has no tool ${showName(toolName)}`);

/** One version, also of a tool that was changed or deleted since: what a call was made with. */
export const showVersion = async (
  { definitions }: Pick<Engine, "definitions">,
  projectId: string,
  toolName: string,
  version: number,
): Promise<Record<string, unknown>> => {
  const found = await definitions.resolveVersion(projectId, toolName, version);
  if (found === undefined)
    throw new ToolplaneError("not_found", `project ${projectId} has no version ${version} of ${showName(toolName)}`);
  const { definition, definitionHash, status } = found;
  return { project_id: projectId, ...definition, version, definition_hash: definitionHash, status };
};

export const getTool = operation({
  body: z.strictObject({ tool_name: plainText, version: z.int().positive().max(MAX_VERSION).optional() }),
  async run({ engine, projectId, body }) {
    if (body.version !== undefined) return ok(await showVersion(engine, projectId, body.tool_name, body.version));
    const tool = await engine.tools.getTool(projectId, body.tool_name);
    if (tool === undefined) throw noTool(projectId, body.tool_name);
    return ok(toolBody(tool));
  },
});

/**
 * A tool service registers only for its own targets, and owns what it registers. A token with more rights can register as a
 * service too: its definitions are then merged under what people decided, instead of replacing it.
 */
const sourceOf = ({ named, targets }: ServiceCaller, upload: unknown, asService: boolean): string | undefined => {
  if (targets === undefined && !asService) return undefined;
  const subject = String((upload as { target_subject?: unknown } | null)?.target_subject ?? "");
  const target = subject.split(".")[6] ?? "";
  if (targets?.includes(target) === false)
    throw new ToolplaneError("auth_failed", `${named} registers tools for ${targets.join(", ")} only`);
  return `service:${target}`;
};

const STATUS = { created: 201, replaced: 200, unchanged: 200, pending: 202, older: 200 } as const;

/**
 * Registers for the caller: 201 new, 200 replaced, unchanged or older, 202 when the version waits until a person accepts it. `sent`
 * is the version that was sent, whether or not it is in force: its hash is what the service names when it claims.
 */
export const registerTool = async (
  { engine, caller, projectId, body }: ServiceRequest<unknown>,
  asService: boolean,
): Promise<ServiceAnswer> => {
  const source = sourceOf(caller, body, asService);
  const { toolName, outcome, version, definitionHash } = await engine.tools.upsertTool(projectId, body, {
    source,
    by: caller.by,
  });
  const tool = await engine.tools.findTool(projectId, toolName);
  if (tool === undefined) throw noTool(projectId, toolName);
  return {
    status: STATUS[outcome],
    body: { ...toolBody(tool), outcome, sent: { version, definition_hash: definitionHash } },
  };
};

export const register = operation({
  maxBytes: MAX_DEFINITION_BYTES,
  // Any upload is passed on: the engine says what is wrong with it.
  body: z.unknown(),
  run: (request) => registerTool(request, true),
});
