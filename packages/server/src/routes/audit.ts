// Who did what: of one project for its operators, of the whole plane for administrators.

import type { AuditEntry } from "@toolplane/engine";
import { answerList } from "../http/answer-list.ts";
import { answerPage } from "../http/answer-page.ts";
import { cursorAfter, keyOfCursor, pageQuery } from "../http/page-query.ts";
import { ADMINS, OPERATORS, type Route, route } from "../http/route.ts";

const DEFAULT_LIMIT = 100;

const auditBody = (entry: AuditEntry) => ({
  audit_id: entry.auditId,
  project_id: entry.projectId,
  at: entry.at,
  act: entry.act,
  subject: entry.subject,
  actor: entry.actor,
  role: entry.role,
  token_id: entry.tokenId,
  door: entry.door,
  detail: entry.detail,
});

export const auditRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/audit",
    roles: OPERATORS,
    gives: "project",
    query: pageQuery,
    handle: async (call) => {
      const { engine, params, query } = call;
      const limit = query.limit ?? DEFAULT_LIMIT;
      const entries = await engine.audit.list(params.project ?? "", { before: keyOfCursor(query.cursor), limit });
      const ids = entries.map(({ auditId }) => auditId);
      return answerPage(call, entries.map(auditBody), cursorAfter(ids, limit));
    },
  }),
  route({
    method: "GET",
    path: "/audit",
    roles: ADMINS,
    gives: "project",
    query: pageQuery,
    handle: async (call) => {
      const { engine, query } = call;
      const limit = query.limit ?? DEFAULT_LIMIT;
      const entries = await engine.audit.list(undefined, { before: keyOfCursor(query.cursor), limit });
      const ids = entries.map(({ auditId }) => auditId);
      return answerList(call, "items", entries.map(auditBody), { next_cursor: cursorAfter(ids, limit) });
    },
  }),
];
