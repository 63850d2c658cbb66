// Who did what: of one project for its operators, of the whole plane for administrators.

import type { AuditEntry } from "@toolplane/engine";
import { z } from "zod";
import { answerPage, answerPlanePage } from "../http/answer-page.ts";
import { anyObject, type BodyOf, pageOf, text, textOrNull, time } from "../http/answers.ts";
import { cursorAfter, keyOfCursor, pageQuery } from "../http/page-query.ts";
import { ADMINS, OPERATORS, type Route, route } from "../http/route.ts";

const DEFAULT_LIMIT = 100;

const auditShape = z
  .strictObject({
    audit_id: text,
    project_id: textOrNull,
    at: time,
    act: text,
    subject: text,
    actor: text,
    role: text,
    token_id: textOrNull,
    door: text,
    detail: anyObject,
  })
  .meta({ id: "AuditEntry" });

const auditBody = (entry: AuditEntry): BodyOf<typeof auditShape> => ({
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
    summary: "Who did what in the project, newest first.",
    query: pageQuery,
    answers: { 200: pageOf(auditShape) },
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
    summary: "Who did what on the whole plane, newest first.",
    query: pageQuery,
    answers: { 200: pageOf(auditShape) },
    handle: async (call) => {
      const { engine, query } = call;
      const limit = query.limit ?? DEFAULT_LIMIT;
      const entries = await engine.audit.list(undefined, { before: keyOfCursor(query.cursor), limit });
      const ids = entries.map(({ auditId }) => auditId);
      return answerPlanePage(call, entries.map(auditBody), cursorAfter(ids, limit));
    },
  }),
];
