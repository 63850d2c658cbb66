// The audit's rows: written with what they tell of, read newest first, never changed.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

const acts = inputOf({
  projectId: given<string | null>("text"),
  tokenId: given<string | null>("text"),
  role: given<string>("text"),
  actor: given<string>("text"),
  door: given<string>("text"),
  act: given<string>("text"),
  subject: given<string>("text"),
  detail: given<string>("text"),
});

export type ActWrite = RowIn<typeof acts>;

export const bindActs = acts.bind;

export const WRITE_ACTS: Statement = {
  name: "audit.write",
  text: `
insert into resource.audit (project_id, token_id, role, actor, door, act, subject, detail)
select project_id, token_id, role, actor, door, act, subject, detail::jsonb from ${acts.from} order by ord`,
};

export interface AuditRow {
  readonly audit_id: string;
  readonly project_id: string | null;
  readonly at: Date;
  readonly token_id: string | null;
  readonly role: string;
  readonly actor: string;
  readonly door: string;
  readonly act: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

const COLUMNS = "audit_id, project_id, at, token_id, role, actor, door, act, subject, detail";

/** $1 project, $2 before this id, $3 limit; newest first. */
export const LIST_AUDIT_OF_PROJECT: Statement = {
  name: "audit.list-of-project",
  text: `
select ${COLUMNS} from resource.audit
 where project_id = $1 and audit_id < $2::bigint
 order by project_id desc, audit_id desc
 limit $3::int`,
};

/** The whole plane's. $1 before this id, $2 limit; newest first. */
export const LIST_AUDIT: Statement = {
  name: "audit.list",
  text: `select ${COLUMNS} from resource.audit where audit_id < $1::bigint order by audit_id desc limit $2::int`,
};
