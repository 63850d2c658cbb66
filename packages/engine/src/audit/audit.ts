// The audit: who did what to the registry, to tokens and to work under way, and every use of a control key.
//   AU1. The row of an act is written in the transaction of the act: neither exists without the other.
//   AU2. Rows are only added. The engine's role may not change or delete them; a project's rows are deleted with the project.
//   AU3. A detail names what changed. Arguments, results, definitions and secrets are never in it (I8); a reason is a person's
//        own text, cut short and with tokens masked.

import { type JsonObject, storableText } from "@toolplane/protocol";
import { parsePage } from "../registry/page.ts";
import type { Queryer } from "../sql/database.ts";
import { type ActWrite, type AuditRow, bindActs, LIST_AUDIT, LIST_AUDIT_OF_PROJECT, WRITE_ACTS } from "./audit.sql.ts";

/** Every act there is; `noun.what happened to it`. */
const ACTS = [
  "project.created",
  "project.changed",
  "project.deleted",
  "tool.applied",
  "tool.pending",
  "tool.accepted",
  "tool.paused",
  "tool.resumed",
  "tool.deleted",
  "profile.applied",
  "profile.deleted",
  "agent.applied",
  "agent.activated",
  "agent.deactivated",
  "token.created",
  "token.revoked",
  "login_link.made",
  "session.begun",
  "session.ended",
  "session.refused",
  "webhook.created",
  "webhook.deleted",
  "webhook.replayed",
  "call.approved",
  "call.denied",
  "call.canceled",
  "call.settled",
  "call.retried",
  "turn.stopped",
  "dead_letter.replayed",
  "control.used",
  "control.stripped",
] as const;

export type ActName = (typeof ACTS)[number];

/** The way by which the actor reached the plane. */
export type Door = "http" | "nats" | "config" | "host" | "service";

/** The actor, as the door knows it. */
export interface Actor {
  readonly door: Door;
  readonly tokenId: string | null;
  readonly role: string;
  /** The token's label where it has one, else the actor's id. */
  readonly actor: string;
}

export interface Act {
  /** Null: an act of the whole plane, which only administrators see. */
  readonly projectId: string | null;
  readonly act: ActName;
  /** The id or name of what it was done to. */
  readonly subject: string;
  readonly detail?: JsonObject | undefined;
}

export interface AuditEntry extends Actor {
  readonly auditId: string;
  readonly projectId: string | null;
  readonly at: string;
  readonly act: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface Audit {
  /** Newest first; of one project, or of the whole plane when no project is given. */
  list(
    projectId: string | undefined,
    page?: { readonly before?: string | undefined; readonly limit?: number | undefined },
  ): Promise<readonly AuditEntry[]>;
}

const NEWEST = "9223372036854775807";
/** Long enough for a name and a sentence; entries of megabytes would hide others. */
const MAX_TEXT = 500;

/** For a token that a person wrote into a reason: its id stays, so that it can be revoked. */
const TOKEN = /(tp_[0-9a-f]{12})_[0-9a-f]+/gu;

const clean = (text: string): string => storableText(text.replaceAll(TOKEN, "$1_***"), MAX_TEXT);

/** The reason, if one was given. */
export const reasonIn = (reason: string | undefined): { readonly reason?: string } => {
  const said = reason?.trim() ?? "";
  return said === "" ? {} : { reason: said };
};

const toWrite = (by: Actor, { projectId, act, subject, detail = {} }: Act): ActWrite => ({
  projectId,
  tokenId: by.tokenId,
  role: by.role,
  actor: clean(by.actor),
  door: by.door,
  act,
  subject: clean(subject),
  // A NUL cannot be stored in a jsonb text; nothing an act says needs one.
  detail: JSON.stringify(detail, (_, value: unknown) => (typeof value === "string" ? clean(value) : value)),
});

/** Writes nothing without an actor: the engine's own work is not an administrative act. */
export const recordActs = async (tx: Queryer, by: Actor | undefined, acts: readonly Act[]): Promise<void> => {
  if (by === undefined || acts.length === 0) return;
  await tx.query(WRITE_ACTS, bindActs(acts.map((act) => toWrite(by, act))));
};

/** The same where every act has its own actor. */
export const recordActsOf = async (tx: Queryer, acts: readonly (Act & { readonly by: Actor })[]): Promise<void> => {
  if (acts.length === 0) return;
  await tx.query(WRITE_ACTS, bindActs(acts.map(({ by, ...act }) => toWrite(by, act))));
};

const entryOf = (row: AuditRow): AuditEntry => ({
  auditId: row.audit_id,
  projectId: row.project_id,
  at: row.at.toISOString(),
  tokenId: row.token_id,
  role: row.role,
  actor: row.actor,
  door: row.door as Door,
  act: row.act,
  subject: row.subject,
  detail: row.detail,
});

const isAuditId = (text: string): boolean => /^[0-9]{1,18}$/.test(text);

export const createAudit = ({ db }: { readonly db: Queryer }): Audit => ({
  async list(projectId, { before = NEWEST, limit } = {}) {
    const bounds = parsePage({ limit });
    if (before !== NEWEST && !isAuditId(before)) return [];
    const rows =
      projectId === undefined
        ? await db.query<AuditRow>(LIST_AUDIT, [before, bounds.limit])
        : await db.query<AuditRow>(LIST_AUDIT_OF_PROJECT, [projectId, before, bounds.limit]);
    return rows.map(entryOf);
  },
});
