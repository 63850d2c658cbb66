// Projects and tools.

import type { Engine, RegisteredProject, RegisteredTool } from "@toolplane/engine";
import type { JsonValue, ToolDefinition } from "@toolplane/protocol";
import { type DefinitionChange, definitionChanges } from "@toolplane/protocol/registry";
import { z } from "zod";
import { MAX_VERSION, noTool, pendingBody, registerTool, showVersion, toolBody } from "../gateway/tool-operations.ts";
import { actorOf } from "../http/actor-of.ts";
import { answerList } from "../http/answer-list.ts";
import { answerPage } from "../http/answer-page.ts";
import { noProject } from "../http/known-project.ts";
import { pageQuery } from "../http/page-query.ts";
import { readUpload, readYamlIn } from "../http/read-upload.ts";
import { ADMINS, OPERATORS, READERS, type Route, route } from "../http/route.ts";
import { serviceCaller } from "../http/service-caller.ts";

const projectBody = (project: RegisteredProject) => ({
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

/** `changes`: what differs from the version before; null when that is on the next page. */
const versionBody = (version: Version, before: Version | undefined, isFirst: boolean) => ({
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
    body: z.record(z.string(), z.unknown()),
    handle: async ({ engine, body, caller, context }) =>
      context.json(projectBody(await engine.projects.createProject(body, caller.actorId, actorOf(caller))), 201),
  }),
  route({
    method: "GET",
    path: "/projects",
    roles: ADMINS,
    gives: "project",
    query: pageQuery,
    handle: async (call) => {
      const { items, nextCursor } = await call.engine.projects.listProjects(call.query);
      return answerList(call, "items", items.map(projectBody), { next_cursor: nextCursor ?? null });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project",
    roles: [...READERS, "tool"],
    gives: "project",
    handle: async ({ engine, params, context }) => {
      const project = await engine.projects.getProject(params.project ?? "");
      if (project === undefined) throw noProject(params.project ?? "");
      return context.json(projectBody(project));
    },
  }),
  route({
    method: "PATCH",
    path: "/projects/:project",
    roles: OPERATORS,
    gives: "project",
    body: z.record(z.string(), z.unknown()),
    handle: async ({ engine, params, body, caller, context }) =>
      context.json(projectBody(await engine.projects.patchProject(params.project ?? "", body, actorOf(caller)))),
  }),
  route({
    method: "DELETE",
    path: "/projects/:project",
    roles: ADMINS,
    gives: "project",
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
    handle: async ({ engine, params, caller, context }) => {
      const upload = await readUpload(context.req.raw, readYamlIn(engine.threads, params.project ?? ""));
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
      return context.json(body, status);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/tools",
    roles: [...READERS, "tool"],
    gives: "project",
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
    query: toolQuery,
    handle: async ({ engine, params, query, context }) => {
      const { version } = query;
      if (version !== undefined)
        return context.json(await showVersion(engine, params.project ?? "", params.tool ?? "", version));
      const isAsked = query.pending === "true";
      const tool = await findShown(engine, params.project ?? "", params.tool ?? "", isAsked);
      if (tool === undefined) throw noTool(params.project ?? "", params.tool ?? "");
      return context.json(toolBody(tool));
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/tools/:tool/versions",
    roles: READERS,
    gives: "project",
    query: pageQuery,
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
    /** The version that the person read; a version that came later is not accepted by mistake. Optional while only one came. */
    body: z.strictObject({ version: z.number().int().positive().optional() }),
    handle: async ({ engine, params, body, caller, context }) => {
      const by = actorOf(caller);
      const tool = await engine.tools.acceptTool(params.project ?? "", params.tool ?? "", body.version, by);
      return context.json({ ...toolBody(tool), outcome: "accepted", accepted: pendingBody(tool.accepted) });
    },
  }),
  ...(["pause", "resume"] as const).map((verb) =>
    route({
      method: "POST",
      path: `/projects/:project/tools/:tool/${verb}`,
      roles: OPERATORS,
      gives: "project",
      handle: async ({ engine, params, caller, context }) => {
        const change = verb === "pause" ? engine.tools.pauseTool : engine.tools.resumeTool;
        await change(params.project ?? "", params.tool ?? "", actorOf(caller));
        return context.json({ status: verb === "pause" ? "paused" : "active" });
      },
    }),
  ),
  route({
    method: "DELETE",
    path: "/projects/:project/tools/:tool",
    roles: OPERATORS,
    gives: "project",
    handle: async ({ engine, params, caller, context }) => {
      await engine.tools.deleteTool(params.project ?? "", params.tool ?? "", { by: actorOf(caller) });
      return context.body(null, 204);
    },
  }),
];
