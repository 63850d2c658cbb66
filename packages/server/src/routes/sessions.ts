// Logins of browsers, for administrators: one-time links, and the sessions that are open. POST and DELETE /session, by which a
// browser logs in and out, are beside the table: they are for requests without a token.

import { type BrowserSession, ROLES } from "@toolplane/engine";
import { z } from "zod";
import { actorOf } from "../http/actor-of.ts";
import { answerPlanePage } from "../http/answer-page.ts";
import { type BodyOf, NOTHING, pageOf, text, textOrNull, time } from "../http/answers.ts";
import { cursorAfter, keyOfCursor, pageQuery } from "../http/page-query.ts";
import { ADMINS, type Route, route } from "../http/route.ts";

const sessionShape = z
  .strictObject({
    session_id: text,
    token_id: text,
    role: z.enum(ROLES),
    project_id: textOrNull,
    label: text,
    browser: text,
    created_at: time,
    seen_at: time,
    expires_at: time,
  })
  .meta({ id: "BrowserSession" });

const sessionBody = ({
  sessionId,
  token,
  browser,
  beganAt,
  seenAt,
  expiresAt,
}: BrowserSession): BodyOf<typeof sessionShape> => ({
  session_id: sessionId,
  token_id: token.tokenId,
  role: token.role,
  project_id: token.projectId,
  label: token.label,
  browser,
  created_at: beganAt.toISOString(),
  seen_at: seenAt.toISOString(),
  expires_at: expiresAt.toISOString(),
});

export const sessionRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/login-links",
    roles: ADMINS,
    gives: "project",
    summary: "Makes a one-time link that logs a browser in with the rights of this token.",
    answers: { 201: z.strictObject({ code: text, path: text, expires_at: time }) },
    handle: async ({ engine, caller, reply }) => {
      const { code, expiresAt } = await engine.logins.makeCode(caller.token.tokenId, actorOf(caller));
      // The part after # stays in the browser: it is in no request, so in no log of a proxy.
      return reply(201, { code, path: `/#login=${code}`, expires_at: expiresAt.toISOString() });
    },
  }),
  route({
    method: "GET",
    path: "/sessions",
    roles: ADMINS,
    gives: "project",
    summary: "The browsers that are logged in.",
    query: pageQuery,
    answers: { 200: pageOf(sessionShape) },
    handle: async (call) => {
      const { engine, query } = call;
      const limit = query.limit ?? 100;
      const sessions = await engine.logins.list({ after: keyOfCursor(query.cursor), limit });
      const ids = sessions.map(({ sessionId }) => sessionId);
      return answerPlanePage(call, sessions.map(sessionBody), cursorAfter(ids, limit));
    },
  }),
  route({
    method: "DELETE",
    path: "/sessions/:session",
    roles: ADMINS,
    gives: "project",
    summary: "Logs a browser out.",
    answers: { 204: NOTHING },
    handle: async ({ engine, params, caller, context }) => {
      await engine.logins.end(params.session ?? "", actorOf(caller));
      return context.body(null, 204);
    },
  }),
];
