// What needs a person: tokens, dead letters, who serves what.

import { type DeadLetter, ROLES, type SeenService, type Token } from "@toolplane/engine";
import { isToken, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { actorOf } from "../http/actor-of.ts";
import { answerList } from "../http/answer-list.ts";
import { answerPage } from "../http/answer-page.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { cursorAfter, keyOfCursor, pageQuery } from "../http/page-query.ts";
import { ADMINS, OPERATORS, PEOPLE, type Route, route } from "../http/route.ts";

const tokenBody = (token: Token) => ({
  token_id: token.tokenId,
  role: token.role,
  project_id: token.projectId,
  actor: token.actorId,
  targets: token.targets,
  label: token.label,
  created_at: token.createdAt.toISOString(),
  expires_at: token.expiresAt?.toISOString() ?? null,
  revoked_at: token.revokedAt?.toISOString() ?? null,
});

const serviceBody = ({ target, holder, lastSeenMs }: SeenService, status: "here" | "gone") => ({
  target,
  holder,
  status,
  last_seen_at: new Date(lastSeenMs).toISOString(),
});

const letterBody = (letter: DeadLetter) => ({
  dead_letter_id: letter.deadLetterId,
  kind: letter.kind,
  tool_call_id: letter.toolCallId,
  subject: letter.subject,
  code: letter.code,
  reason: letter.reason,
  attempts: letter.attempts,
  created_at: letter.createdAt.toISOString(),
  replayed_at: letter.replayedAt?.toISOString() ?? null,
  replayed_as: letter.replayedAs,
});

export const operationRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/tokens",
    roles: ADMINS,
    gives: "project",
    body: z.strictObject({
      role: z.enum(ROLES),
      project_id: z.string().min(1).max(64).optional(),
      actor: z.string().min(1).max(128).optional(),
      targets: z.array(z.string().min(1).max(64)).max(100).optional(),
      label: z.string().max(200).optional(),
      ttl_seconds: z
        .number()
        .positive()
        .max(10 * 366 * 86_400)
        .optional(),
    }),
    handle: async ({ engine, body, caller, context }) => {
      if (body.role === "agent" && body.actor !== undefined && !isToken(body.actor))
        throw new ToolplaneError(
          "bad_request",
          "the actor of an agent's token is the id of an agent; leave it out for one that speaks for none",
        );
      const asked = {
        role: body.role,
        projectId: body.project_id,
        actorId: body.actor,
        targets: body.targets,
        label: body.label,
        ttlSeconds: body.ttl_seconds,
      };
      const { token, secret } = await engine.tokens.create(asked, actorOf(caller));
      return context.json({ ...tokenBody(token), token: secret }, 201);
    },
  }),
  route({
    method: "GET",
    path: "/tokens",
    roles: ADMINS,
    gives: "project",
    query: pageQuery,
    handle: async (call) => {
      const { engine, query } = call;
      const limit = query.limit ?? 100;
      const tokens = await engine.tokens.list({ after: keyOfCursor(query.cursor), limit });
      const ids = tokens.map(({ tokenId }) => tokenId);
      return answerList(call, "items", tokens.map(tokenBody), { next_cursor: cursorAfter(ids, limit) });
    },
  }),
  route({
    method: "DELETE",
    path: "/tokens/:token",
    roles: ADMINS,
    gives: "project",
    handle: async ({ engine, params, caller, context }) => {
      await engine.tokens.revoke(params.token ?? "", undefined, actorOf(caller));
      return context.body(null, 204);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/dead-letters",
    roles: PEOPLE,
    gives: "work",
    query: pageQuery,
    handle: async (call) => {
      const { engine, params, query } = call;
      const limit = query.limit ?? 100;
      const letters = await engine.deadLetters.list(params.project ?? "", { before: keyOfCursor(query.cursor), limit });
      const ids = letters.map(({ deadLetterId }) => deadLetterId);
      return answerPage(call, letters.map(letterBody), cursorAfter(ids, limit));
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/dead-letters/:letter",
    roles: PEOPLE,
    gives: "work",
    handle: async ({ engine, params, context }) => {
      return context.json(letterBody(await engine.deadLetters.get(params.project ?? "", params.letter ?? "")));
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/dead-letters/:letter/replay",
    roles: OPERATORS,
    gives: "work",
    handle: async ({ engine, params, caller, context }) => {
      const by = actorOf(caller);
      const { replayedAs } = await engine.deadLetters.replay(params.project ?? "", params.letter ?? "", by);
      return context.json({ replayed_as: replayedAs });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/services",
    roles: PEOPLE,
    gives: "work",
    handle: async (call) => {
      // A service that claims for a project that does not exist was recorded too.
      await refuseUnknownProject(call.engine, call.params.project ?? "");
      const projectId = call.params.project ?? "";
      const { calls } = call.engine;
      const here = calls.services(projectId).map((service) => serviceBody(service, "here"));
      const gone = calls.goneServices(projectId).map((service) => serviceBody(service, "gone"));
      return answerPage(call, [...here, ...gone]);
    },
  }),
];
