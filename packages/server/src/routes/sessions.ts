// Logins of browsers, for administrators: one-time links, and the sessions that are open. POST and DELETE /session, by which a
// browser logs in and out, are beside the table: they are for requests without a token.

import type { BrowserSession } from "@toolplane/engine";
import { actorOf } from "../http/actor-of.ts";
import { cursorAfter, keyOfCursor, pageQuery } from "../http/page-query.ts";
import { ADMINS, type Route, route } from "../http/route.ts";

const sessionBody = ({ sessionId, token, browser, beganAt, seenAt, expiresAt }: BrowserSession) => ({
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
    handle: async ({ engine, caller, context }) => {
      const { code, expiresAt } = await engine.logins.makeCode(caller.token.tokenId, actorOf(caller));
      // The part after # stays in the browser: it is in no request, so in no log of a proxy.
      return context.json({ code, path: `/#login=${code}`, expires_at: expiresAt.toISOString() }, 201);
    },
  }),
  route({
    method: "GET",
    path: "/sessions",
    roles: ADMINS,
    gives: "project",
    query: pageQuery,
    handle: async ({ engine, query, context }) => {
      const limit = query.limit ?? 100;
      const sessions = await engine.logins.list({ after: keyOfCursor(query.cursor), limit });
      const ids = sessions.map(({ sessionId }) => sessionId);
      return context.json({ items: sessions.map(sessionBody), next_cursor: cursorAfter(ids, limit) });
    },
  }),
  route({
    method: "DELETE",
    path: "/sessions/:session",
    roles: ADMINS,
    gives: "project",
    handle: async ({ engine, params, caller, context }) => {
      await engine.logins.end(params.session ?? "", actorOf(caller));
      return context.body(null, 204);
    },
  }),
];
