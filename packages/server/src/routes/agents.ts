// Profiles (what an agent is told and may use) and the roster (which agents a project has).

import type { Agents, Profiles } from "@toolplane/engine";
import { showName, ToolplaneError } from "@toolplane/protocol";
import { agentUploadSchema, profileUploadSchema } from "@toolplane/protocol/registry";
import { z } from "zod";
import { actorOf } from "../http/actor-of.ts";
import { answerPage } from "../http/answer-page.ts";
import { anyObject, type BodyOf, NOTHING, pageOf, text, textOrNull, time } from "../http/answers.ts";
import { pageQuery } from "../http/page-query.ts";
import { readUpload, readYamlIn } from "../http/read-upload.ts";
import { LARGE_BODY_BYTES, OPERATORS, READERS, type Route, route } from "../http/route.ts";

type Profile = NonNullable<Awaited<ReturnType<Profiles["getProfile"]>>>;
type Agent = NonNullable<Awaited<ReturnType<Agents["getAgent"]>>>;

const profileShape = z
  .strictObject({
    project_id: text,
    profile_box_id: text,
    name: text,
    worker_target: text,
    tags: z.array(text),
    system_prompt_compiled: text,
    updated_at: time,
  })
  .meta({ id: "Profile" });
const appliedProfile = profileShape.extend({ outcome: z.enum(["created", "replaced", "unchanged"]) });

const agentShape = z
  .strictObject({
    project_id: text,
    agent_id: text,
    profile_box_id: text,
    worker_target: text,
    tags: z.array(text),
    display_name: textOrNull,
    owner_agent_id: textOrNull,
    status: z.enum(["active", "inactive"]),
    metadata: anyObject,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Agent" });
const appliedAgent = agentShape.extend({ outcome: z.enum(["created", "updated"]) });

const profileBody = (profile: Profile): BodyOf<typeof profileShape> => ({
  project_id: profile.projectId,
  profile_box_id: profile.profileBoxId,
  name: profile.name,
  worker_target: profile.workerTarget,
  tags: profile.tags,
  system_prompt_compiled: profile.systemPrompt,
  updated_at: profile.updatedAt,
});

const agentBody = (agent: Agent): BodyOf<typeof agentShape> => ({
  project_id: agent.projectId,
  agent_id: agent.agentId,
  profile_box_id: agent.profileBoxId,
  worker_target: agent.workerTarget,
  tags: agent.tags,
  display_name: agent.displayName,
  owner_agent_id: agent.ownerAgentId,
  status: agent.status,
  metadata: agent.metadata,
  created_at: agent.createdAt,
  updated_at: agent.updatedAt,
});

const noProfile = (project: string, name: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${project} has no profile ${showName(name)}`);
const noAgent = (project: string, agentId: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${project} has no agent ${showName(agentId)}`);

const agentQuery = pageQuery.extend({
  worker_target: z.string().max(64).optional(),
  tag: z.string().max(128).optional(),
  status: z.enum(["active", "inactive"]).optional(),
  /** Also agents that were made for a task and have done it. */
  all: z.enum(["true", "false"]).optional(),
});

export const agentRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects/:project/profiles",
    roles: OPERATORS,
    gives: "project",
    summary: "Registers a profile, or replaces the one of that name.",
    shownBody: profileUploadSchema,
    isUpload: true,
    answers: { 200: appliedProfile, 201: appliedProfile },
    handle: async ({ engine, params, caller, context, reply }) => {
      const upload = await readUpload(context.req.raw, readYamlIn(engine.threads, params.project ?? ""));
      const by = actorOf(caller);
      const { outcome, ...profile } = await engine.profiles.upsertProfile(params.project ?? "", upload, by);
      return reply(outcome === "created" ? 201 : 200, { ...profileBody(profile), outcome });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/profiles",
    roles: READERS,
    gives: "project",
    summary: "The profiles of a project, by name.",
    query: pageQuery,
    answers: { 200: pageOf(profileShape) },
    handle: async (call) => {
      const { items, nextCursor } = await call.engine.profiles.listProfiles(call.params.project ?? "", call.query);
      return answerPage(call, items.map(profileBody), nextCursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/profiles/:profile",
    roles: READERS,
    gives: "project",
    summary: "One profile with its settings.",
    answers: { 200: profileShape.extend({ profile: anyObject.nullable() }) },
    handle: async ({ engine, params, reply }) => {
      const profile = await engine.profiles.getProfile(params.project ?? "", params.profile ?? "");
      if (profile === undefined) throw noProfile(params.project ?? "", params.profile ?? "");
      const settings = await engine.profiles.loadProfile(profile.projectId, profile.profileBoxId);
      return reply(200, { ...profileBody(profile), profile: settings ?? null });
    },
  }),
  route({
    method: "DELETE",
    path: "/projects/:project/profiles/:profile",
    roles: OPERATORS,
    gives: "project",
    summary: "Deletes a profile.",
    answers: { 204: NOTHING },
    handle: async ({ engine, params, caller, context }) => {
      await engine.profiles.deleteProfile(params.project ?? "", params.profile ?? "", actorOf(caller));
      return context.body(null, 204);
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/agents",
    roles: OPERATORS,
    gives: "project",
    summary: "Puts an agent on the roster, or changes it.",
    shownBody: agentUploadSchema,
    body: anyObject,
    answers: { 200: appliedAgent, 201: appliedAgent },
    maxBytes: LARGE_BODY_BYTES,
    handle: async ({ engine, params, body, caller, reply }) => {
      const by = actorOf(caller);
      const { outcome, ...agent } = await engine.agents.upsertAgent(params.project ?? "", body, by);
      return reply(outcome === "created" ? 201 : 200, { ...agentBody(agent), outcome });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/agents",
    roles: READERS,
    gives: "project",
    summary: "The agents of a project.",
    query: agentQuery,
    answers: { 200: pageOf(agentShape) },
    handle: async (call) => {
      const { worker_target: workerTarget, all, ...rest } = call.query;
      const asked = { ...rest, workerTarget, all: all === "true" };
      const { items, nextCursor } = await call.engine.agents.listAgents(call.params.project ?? "", asked);
      return answerPage(call, items.map(agentBody), nextCursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/agents/:agent",
    roles: READERS,
    gives: "project",
    summary: "One agent of the roster.",
    answers: { 200: agentShape },
    handle: async ({ engine, params, reply }) => {
      const agent = await engine.agents.getAgent(params.project ?? "", params.agent ?? "");
      if (agent === undefined) throw noAgent(params.project ?? "", params.agent ?? "");
      return reply(200, agentBody(agent));
    },
  }),
  ...(["activate", "deactivate"] as const).map((verb) =>
    route({
      method: "POST",
      path: `/projects/:project/agents/:agent/${verb}`,
      roles: OPERATORS,
      gives: "project",
      summary: verb === "activate" ? "Lets an agent begin turns again." : "An agent begins no more turns.",
      body: z.strictObject({ reason: z.string().max(500).optional() }),
      answers: { 200: agentShape },
      handle: async ({ engine, params, body, caller, reply }) => {
        const by = actorOf(caller);
        const [projectId, agentId] = [params.project ?? "", params.agent ?? ""];
        const agent =
          verb === "activate"
            ? await engine.agents.activateAgent(projectId, agentId, by)
            : await engine.agents.deactivateAgent(projectId, agentId, body.reason ?? "deactivated", by);
        return reply(200, agentBody(agent));
      },
    }),
  ),
];
