// The definitions of a service's tools: look one up, register one.

import { type Engine, noTool, type PendingVersion, type RegisteredTool } from "@toolplane/engine";
import { AFTER_EXECUTIONS, isRecord, showName, ToolplaneError } from "@toolplane/protocol";
import { keepDefinition } from "@toolplane/protocol/registry";
import { z } from "zod";
import { anyObject, type BodyOf, text, textOrNull, time } from "../http/answers.ts";
import { codeWarnings } from "./code-warning.ts";
import { type AnswerIn, ok, operation, plainText, type ServiceCaller, type ServiceRequest } from "./service-request.ts";

/** A definition is written by hand. */
const MAX_DEFINITION_BYTES = 1024 * 1024;

/** As large as the column of versions. */
export const MAX_VERSION = 2 ** 31 - 1;

export const changesBody = z.array(z.strictObject({ field: text, from: z.unknown(), to: z.unknown() }));

/** A version that waits until a person accepts it. */
export const pendingShape = z
  .strictObject({
    version: z.int(),
    definition_hash: text,
    source: textOrNull,
    created_at: time,
    weakens: z.array(text),
    changes: changesBody,
  })
  .meta({ id: "PendingVersion" });

export const definitionFields = {
  tool_name: text,
  description: text,
  parameters: anyObject,
  target_subject: text,
  after_execution: z.enum(AFTER_EXECUTIONS),
  options: anyObject,
};

const statusShape = z.enum(["active", "paused", "deleted", "pending"]);

/** A tool as it is in force. */
export const toolShape = z
  .strictObject({
    project_id: text,
    ...definitionFields,
    version: z.int(),
    definition_hash: text,
    status: statusShape,
    source: textOrNull,
    updated_at: time,
    guarded_version: z.int().nullable(),
    pending: pendingShape.optional(),
    deleted_by: text.optional(),
  })
  .meta({ id: "Tool" });

/** One version of a tool. */
export const toolVersionShape = z.strictObject({
  project_id: text,
  ...definitionFields,
  version: z.int(),
  definition_hash: text,
  status: statusShape,
});

const warningsField = z.array(text).optional();

/** The answer to a change of limits. */
export const limitedShape = toolShape
  .extend({
    warnings: warningsField.meta({
      description: "Codes of the retry policy that are probably misspelled; left out when there is nothing to say.",
    }),
  })
  .meta({ id: "LimitedTool" });

/** The answer to a registration. */
const registeredShape = toolShape
  .extend({
    outcome: z.enum(["created", "replaced", "unchanged", "pending", "older"]),
    sent: z.strictObject({ version: z.int(), definition_hash: text }),
    warnings: warningsField.meta({
      description:
        "Why calls of the tool will not be executed as the plane runs now, and codes of its retry policy that are probably misspelled; left out when there is nothing to say.",
    }),
  })
  .meta({ id: "RegisteredTool" });

export const registeredAnswers = { 200: registeredShape, 201: registeredShape, 202: registeredShape };

export const pendingBody = (pending: PendingVersion): BodyOf<typeof pendingShape> => ({
  version: pending.version,
  definition_hash: pending.definitionHash,
  source: pending.source,
  created_at: pending.createdAt,
  weakens: pending.weakens,
  changes: pending.changes,
});

export const toolBody = (tool: RegisteredTool): BodyOf<typeof toolShape> => ({
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

/** One version, also of a tool that was changed or deleted since: what a call was made with. */
export const showVersion = async (
  { definitions }: Pick<Engine, "definitions">,
  projectId: string,
  toolName: string,
  version: number,
): Promise<BodyOf<typeof toolVersionShape>> => {
  const found = await definitions.resolveVersion(projectId, toolName, version);
  if (found === undefined)
    throw new ToolplaneError("not_found", `project ${projectId} has no version ${version} of ${showName(toolName)}`);
  const { definition, definitionHash, status } = found;
  return { project_id: projectId, ...definition, version, definition_hash: definitionHash, status };
};

export const getTool = operation({
  body: z.strictObject({ tool_name: plainText, version: z.int().positive().max(MAX_VERSION).optional() }),
  answers: { 200: z.union([toolShape, toolVersionShape]) },
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

/** What an answer shows beside the definition. */
const SHOWN_ONLY: ReadonlySet<string> = new Set(
  [...Object.keys(toolShape.shape), "outcome", "sent", "warnings"].filter(
    (key) => !Object.hasOwn(definitionFields, key),
  ),
);

/** An answer of this API that was edited and sent back is read as the definition in it. Other uploads keep every key they have. */
const definitionIn = (upload: unknown): unknown =>
  isRecord(upload) && typeof upload.definition_hash === "string"
    ? Object.fromEntries(Object.entries(upload).filter(([key]) => !SHOWN_ONLY.has(key)))
    : upload;

/**
 * Registers for the caller: 201 new, 200 replaced, unchanged or older, 202 when the version waits until a person accepts it. `sent`
 * is the version that was sent, whether or not it is in force: its hash is what the service names when it claims.
 */
export const registerTool = async (
  { engine, caller, projectId, body }: ServiceRequest<unknown>,
  asService: boolean,
): Promise<AnswerIn<typeof registeredAnswers>> => {
  const upload = definitionIn(body);
  const source = sourceOf(caller, upload, asService);
  const { toolName, outcome, version, definitionHash } = await engine.tools.upsertTool(projectId, upload, {
    source,
    by: caller.by,
  });
  const tool = await engine.tools.findTool(projectId, toolName);
  if (tool === undefined) throw noTool(projectId, toolName);
  const sent = { version, definition_hash: definitionHash };
  const isInForce = outcome !== "pending" && outcome !== "older";
  const judged = isInForce ? tool : await engine.definitions.resolveVersion(projectId, toolName, version);
  return {
    status: STATUS[outcome],
    body: { ...toolBody(tool), outcome, sent, ...codeWarnings(judged?.definition.options ?? {}) },
  };
};

export const register = operation({
  maxBytes: MAX_DEFINITION_BYTES,
  settle: keepDefinition,
  // Any upload is passed on: the engine says what is wrong with it.
  body: z.unknown(),
  answers: registeredAnswers,
  run: (request) => registerTool(request, true),
});
