// What needs a person: tokens, dead letters, who serves what.

import { type DeadLetter, ROLES, type SeenService, type Token } from "@toolplane/engine";
import { isToken, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import { z } from "zod";
import { actorOf } from "../http/actor-of.ts";
import { answerPage, answerPlanePage } from "../http/answer-page.ts";
import { type BodyOf, NOTHING, pageOf, text, textOrNull, time, timeOrNull } from "../http/answers.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { cursorAfter, keyOfCursor, pageOfKnown, pageQuery } from "../http/page-query.ts";
import { ADMINS, OPERATORS, PEOPLE, type Route, route } from "../http/route.ts";

const tokenShape = z
  .strictObject({
    token_id: text,
    role: z.enum(ROLES),
    project_id: textOrNull,
    actor: textOrNull,
    targets: z.array(text),
    label: text,
    created_at: time,
    expires_at: timeOrNull,
    revoked_at: timeOrNull,
  })
  .meta({ id: "Token" });

const letterShape = z
  .strictObject({
    dead_letter_id: text,
    kind: z.enum(["call", "message"]),
    tool_call_id: textOrNull,
    subject: text,
    code: text,
    reason: text,
    attempts: z.int(),
    created_at: time,
    replayed_at: timeOrNull,
    replayed_as: textOrNull,
  })
  .meta({ id: "DeadLetter" });

/** One letter, with what was to be sent. */
const letterDetail = letterShape
  .extend({ headers: z.unknown(), payload: z.unknown() })
  .meta({ id: "DeadLetterDetail" });

/** A message that could not be delivered may not be JSON: then its text is shown. */
const shownJson = (text: string): unknown => tryParseJsonStrict(text) ?? text;

const tokenBody = (token: Token): BodyOf<typeof tokenShape> => ({
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

const serviceShape = z
  .strictObject({ target: text, holder: text, status: z.enum(["here", "gone"]), last_seen_at: time })
  .meta({ id: "Service" });

const serviceBody = (
  { target, holder, lastSeenMs }: SeenService,
  status: "here" | "gone",
): BodyOf<typeof serviceShape> => ({
  target,
  holder,
  status,
  last_seen_at: new Date(lastSeenMs).toISOString(),
});

const letterBody = (letter: DeadLetter): BodyOf<typeof letterShape> => ({
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
    summary: "Makes a token; its secret is shown once.",
    answers: { 201: tokenShape.extend({ token: text.meta({ description: "The secret." }) }) },
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
    handle: async ({ engine, body, caller, reply }) => {
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
      return reply(201, { ...tokenBody(token), token: secret });
    },
  }),
  route({
    method: "GET",
    path: "/tokens",
    roles: ADMINS,
    gives: "project",
    summary: "All tokens, without their secrets.",
    query: pageQuery,
    answers: { 200: pageOf(tokenShape) },
    handle: async (call) => {
      const { engine, query } = call;
      const limit = query.limit ?? 100;
      const tokens = await engine.tokens.list({ after: keyOfCursor(query.cursor), limit });
      const ids = tokens.map(({ tokenId }) => tokenId);
      return answerPlanePage(call, tokens.map(tokenBody), cursorAfter(ids, limit));
    },
  }),
  route({
    method: "DELETE",
    path: "/tokens/:token",
    roles: ADMINS,
    gives: "project",
    summary: "Revokes a token; what is open with it ends.",
    answers: { 204: NOTHING },
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
    summary: "Work that the plane gave up, newest first.",
    query: pageQuery,
    answers: { 200: pageOf(letterShape) },
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
    summary: "One dead letter, with the headers and the payload of what was to be sent.",
    answers: { 200: letterDetail },
    handle: async ({ engine, params, reply }) => {
      const letter = await engine.deadLetters.get(params.project ?? "", params.letter ?? "");
      const { headers, payload } = letter;
      return reply(200, { ...letterBody(letter), headers: shownJson(headers), payload: shownJson(payload) });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/dead-letters/:letter/replay",
    roles: OPERATORS,
    gives: "work",
    summary: "Tries a dead letter again; asked twice, it names the same new call.",
    answers: { 200: z.strictObject({ replayed_as: text }) },
    handle: async ({ engine, params, caller, reply }) => {
      const by = actorOf(caller);
      const { replayedAs } = await engine.deadLetters.replay(params.project ?? "", params.letter ?? "", by);
      return reply(200, { replayed_as: replayedAs });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/services",
    roles: PEOPLE,
    gives: "work",
    query: pageQuery,
    summary: "Tool services that ask this process for work, and those that went away within the last hour.",
    answers: { 200: pageOf(serviceShape) },
    handle: async (call) => {
      // A service that claims for a project that does not exist was recorded too.
      await refuseUnknownProject(call.engine, call.params.project ?? "");
      const projectId = call.params.project ?? "";
      const { calls } = call.engine;
      const here = calls.services(projectId).map((service) => serviceBody(service, "here"));
      const gone = calls.goneServices(projectId).map((service) => serviceBody(service, "gone"));
      // Those that are here first.
      const keyOf = ({ status, target, holder }: BodyOf<typeof serviceShape>) =>
        `${status === "here" ? 0 : 1} ${target} ${holder}`;
      const page = pageOfKnown([...here, ...gone], keyOf, call.query);
      return answerPage(call, page.items, page.nextCursor);
    },
  }),
];
