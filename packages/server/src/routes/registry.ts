// Projects and tools.

import { type Engine, noTool, type RegisteredProject, type RegisteredTool } from "@toolplane/engine";
import type { JsonValue, ToolDefinition } from "@toolplane/protocol";
import {
  type DefinitionChange,
  definitionChanges,
  keepDefinition,
  projectCreateSchema,
  projectLimitsSchema,
  projectPatchSchema,
  toolLimitsSchema,
  toolUploadSchema,
} from "@toolplane/protocol/registry";
import { z } from "zod";
import { codeWarnings } from "../gateway/code-warning.ts";
import {
  changesBody,
  definitionFields,
  limitedShape,
  MAX_VERSION,
  pendingBody,
  pendingShape,
  registeredAnswers,
  registerTool,
  showVersion,
  toolBody,
  toolShape,
  toolVersionShape,
} from "../gateway/tool-operations.ts";
import { actorOf } from "../http/actor-of.ts";
import { answerList } from "../http/answer-list.ts";
import { answerPage, answerPlanePage } from "../http/answer-page.ts";
import { anyObject, type BodyOf, NOTHING, pageOf, text, textOrNull, time } from "../http/answers.ts";
import { noProject } from "../http/known-project.ts";
import { pageQuery } from "../http/page-query.ts";
import { readUpload, readYamlIn } from "../http/read-upload.ts";
import { ADMINS, EVERYBODY, OPERATORS, READERS, type Route, route } from "../http/route.ts";
import { serviceCaller } from "../http/service-caller.ts";
import { visibleProjects } from "../http/visible-projects.ts";
import { planPlainWarning } from "../why/plain-problem.ts";

const projectShape = z
  .strictObject({
    project_id: text,
    title: text,
    status: z.enum(["active", "inactive", "archived"]),
    owner_id: text,
    limits: projectLimitsSchema,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Project" });

const projectBody = (project: RegisteredProject): BodyOf<typeof projectShape> => ({
  project_id: project.projectId,
  title: project.title,
  status: project.status,
  owner_id: project.ownerId,
  limits: project.limits,
  created_at: project.createdAt,
  updated_at: project.updatedAt,
});

type Version = Awaited<ReturnType<Engine["tools"]["listToolVersions"]>>["items"][number];

/** The definition stands beside its changes, so a long value is shown by its beginning: a page stays as large as its definitions. */
const MOST_SHOWN = 500;
const shorten = (value: JsonValue): JsonValue => {
  const text = JSON.stringify(value);
  return text.length <= MOST_SHOWN ? value : `${text.slice(0, MOST_SHOWN)}...`;
};
const changesBetween = (before: ToolDefinition, after: ToolDefinition): readonly DefinitionChange[] =>
  definitionChanges(before, after).map(({ field, from, to }) => ({ field, from: shorten(from), to: shorten(to) }));

const versionShape = z
  .strictObject({
    version: z.int(),
    definition_hash: text,
    definition: z.strictObject(definitionFields),
    created_at: time,
    state: text,
    changes: changesBody.nullable(),
  })
  .meta({ id: "ToolVersion" });

/** `changes`: what differs from the version before; null when that is on the next page. */
const versionBody = (version: Version, before: Version | undefined, isFirst: boolean): BodyOf<typeof versionShape> => ({
  version: version.version,
  definition_hash: version.definitionHash,
  definition: version.definition,
  created_at: version.createdAt,
  state: version.state,
  changes: before === undefined ? (isFirst ? [] : null) : changesBetween(before.definition, version.definition),
});

/** Deleted tools are shown only to those who ask for what waits, and only while something does. */
const pendingQuery = z.strictObject({ pending: z.enum(["true", "false"]).optional() });
/** `version`: that version, also after it was replaced. */
const toolQuery = pendingQuery.extend({ version: z.coerce.number().int().positive().max(MAX_VERSION).optional() });

const findShown = async (
  { tools }: Pick<Engine, "tools">,
  projectId: string,
  toolName: string,
  withPending: boolean,
): Promise<RegisteredTool | undefined> => {
  if (!withPending) return tools.getTool(projectId, toolName);
  const tool = await tools.findTool(projectId, toolName);
  return tool?.status === "deleted" && tool.pending === undefined ? undefined : tool;
};

export const registryRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects",
    roles: ADMINS,
    gives: "project",
    summary: "Makes a project.",
    shownBody: projectCreateSchema,
    body: anyObject,
    answers: { 201: projectShape },
    handle: async ({ engine, body, caller, reply }) =>
      reply(201, projectBody(await engine.projects.createProject(body, caller.actorId, actorOf(caller)))),
  }),
  route({
    method: "GET",
    path: "/projects",
    roles: EVERYBODY,
    gives: "self",
    summary: "The projects that the token may see: all of them for an administrator, its own for every other token.",
    query: pageQuery,
    answers: { 200: pageOf(projectShape) },
    handle: async (call) => {
      const { items, nextCursor } = await visibleProjects(call.engine, call.caller, call.query);
      return answerPlanePage(call, items.map(projectBody), nextCursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project",
    roles: [...READERS, "tool"],
    gives: "project",
    summary: "One project.",
    answers: { 200: projectShape },
    handle: async ({ engine, params, reply }) => {
      const project = await engine.projects.getProject(params.project ?? "");
      if (project === undefined) throw noProject(params.project ?? "");
      return reply(200, projectBody(project));
    },
  }),
  route({
    method: "PATCH",
    path: "/projects/:project",
    roles: OPERATORS,
    gives: "project",
    summary: "Changes a project's title, status or limits.",
    shownBody: projectPatchSchema,
    body: anyObject,
    isExact: true,
    answers: { 200: projectShape },
    handle: async ({ engine, params, body, caller, reply }) =>
      reply(200, projectBody(await engine.projects.patchProject(params.project ?? "", body, actorOf(caller)))),
  }),
  route({
    method: "DELETE",
    path: "/projects/:project",
    roles: ADMINS,
    gives: "project",
    summary: "Deletes a project with all it holds; refused while calls are open, unless `force` is true.",
    answers: { 204: NOTHING },
    query: z.strictObject({ force: z.enum(["true", "false"]).optional() }),
    handle: async ({ engine, params, query, caller, context }) => {
      const force = query.force === "true";
      await engine.projects.deleteProject(params.project ?? "", { force, by: actorOf(caller) });
      return context.body(null, 204);
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/tools",
    roles: [...OPERATORS, "tool"],
    gives: "served",
    summary: "Registers a tool, or a new version of it.",
    shownBody: toolUploadSchema,
    isUpload: true,
    headers: { "Toolplane-Register-As": "`service`: the definition counts as a program's, whatever token sends it." },
    answers: registeredAnswers,
    handle: async ({ engine, params, caller, processes, context, reply }) => {
      const readYaml = readYamlIn(engine.threads, params.project ?? "");
      const upload = await readUpload(context.req.raw, readYaml, { settle: keepDefinition });
      const asked = {
        engine,
        caller: serviceCaller(caller),
        projectId: params.project ?? "",
        toolCallId: "",
        headers: {},
      };
      // The definition counts as a program's, whatever token the program uses.
      const asService = context.req.header("toolplane-register-as") === "service";
      const { status, body } = await registerTool({ ...asked, body: upload }, asService);
      const warning = planPlainWarning(body, processes.noNats?.() === true);
      const { warnings = [] } = body;
      return reply(status, warning === undefined ? body : { ...body, warnings: [...warnings, warning] });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/tools",
    roles: [...READERS, "tool"],
    gives: "project",
    summary: "The tools of a project, by name.",
    answers: { 200: pageOf(toolShape) },
    query: pageQuery.extend({ pending: z.enum(["true", "false"]).optional() }),
    handle: async (call) => {
      const { pending, ...page } = call.query;
      const asked = { ...page, pending: pending === "true" };
      const { items, nextCursor } = await call.engine.tools.listTools(call.params.project ?? "", asked);
      return answerPage(call, items.map(toolBody), nextCursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/tools/:tool",
    roles: [...READERS, "tool"],
    gives: "project",
    summary: "One tool; with `version`, that version, also after it was replaced.",
    query: toolQuery,
    answers: { 200: z.union([toolShape, toolVersionShape]) },
    handle: async ({ engine, params, query, reply }) => {
      const { version } = query;
      if (version !== undefined)
        return reply(200, await showVersion(engine, params.project ?? "", params.tool ?? "", version));
      const isAsked = query.pending === "true";
      const tool = await findShown(engine, params.project ?? "", params.tool ?? "", isAsked);
      if (tool === undefined) throw noTool(params.project ?? "", params.tool ?? "");
      return reply(200, toolBody(tool));
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/tools/:tool/versions",
    roles: READERS,
    gives: "project",
    summary: "The versions of a tool, newest first, each with its changes against the one before.",
    query: pageQuery,
    answers: { 200: pageOf(versionShape).extend({ pending: pendingShape.nullable(), deleted_by: textOrNull }) },
    handle: async (call) => {
      const { engine, params, query } = call;
      const { items, nextCursor } = await engine.tools.listToolVersions(params.project ?? "", params.tool ?? "", query);
      const tool = await engine.tools.findTool(params.project ?? "", params.tool ?? "");
      if (tool === undefined) throw noTool(params.project ?? "", params.tool ?? "");
      const { pending = null, deleted_by = null } = toolBody(tool);
      const isLast = nextCursor === null || nextCursor === undefined;
      const bodies = items.map((item, at) => versionBody(item, items[at + 1], isLast && at === items.length - 1));
      return answerList(call, "items", bodies, {
        next_cursor: nextCursor ?? null,
        pending,
        deleted_by,
      });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/tools/:tool/accept",
    roles: OPERATORS,
    gives: "project",
    summary: "Puts a version in force that waits for a person, or goes back to an earlier one.",
    answers: { 200: toolShape.extend({ outcome: z.literal("accepted"), accepted: pendingShape }) },
    /** The version that the person read; a version that came later is not accepted by mistake. Optional while only one came. */
    body: z.strictObject({ version: z.number().int().positive().optional() }),
    handle: async ({ engine, params, body, caller, reply }) => {
      const by = actorOf(caller);
      const tool = await engine.tools.acceptTool(params.project ?? "", params.tool ?? "", body.version, by);
      return reply(200, { ...toolBody(tool), outcome: "accepted", accepted: pendingBody(tool.accepted) });
    },
  }),
  route({
    method: "PATCH",
    path: "/projects/:project/tools/:tool/limits",
    roles: OPERATORS,
    gives: "project",
    summary: "Changes the limits of a tool and nothing else; null takes one away, and one that is left out stays.",
    body: toolLimitsSchema,
    isExact: true,
    answers: { 200: limitedShape },
    handle: async ({ engine, params, body, caller, reply }) => {
      const by = actorOf(caller);
      const tool = await engine.tools.setLimits(params.project ?? "", params.tool ?? "", body, by);
      return reply(200, { ...toolBody(tool), ...codeWarnings(tool.definition.options) });
    },
  }),
  ...(["pause", "resume"] as const).map((verb) =>
    route({
      method: "POST",
      path: `/projects/:project/tools/:tool/${verb}`,
      roles: OPERATORS,
      gives: "project",
      summary: verb === "pause" ? "Calls of the tool wait until it is resumed." : "Calls of a paused tool run again.",
      answers: { 200: z.strictObject({ status: z.enum(["active", "paused"]) }) },
      handle: async ({ engine, params, caller, reply }) => {
        const change = verb === "pause" ? engine.tools.pauseTool : engine.tools.resumeTool;
        await change(params.project ?? "", params.tool ?? "", actorOf(caller));
        return reply(200, { status: verb === "pause" ? "paused" : "active" });
      },
    }),
  ),
  route({
    method: "DELETE",
    path: "/projects/:project/tools/:tool",
    roles: OPERATORS,
    gives: "project",
    summary: "Deletes a tool; its open calls go on.",
    answers: { 204: NOTHING },
    handle: async ({ engine, params, caller, context }) => {
      await engine.tools.deleteTool(params.project ?? "", params.tool ?? "", { by: actorOf(caller) });
      return context.body(null, 204);
    },
  }),
];
