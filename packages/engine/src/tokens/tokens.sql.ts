// Tokens by id; the secret is compared outside the database, in constant time.

import type { Statement } from "../sql/database.ts";

const COLUMNS = "token_id, role, project_id, actor_id, targets, label, created_at, expires_at, revoked_at";

export interface TokenRow {
  readonly token_id: string;
  readonly role: string;
  readonly project_id: string | null;
  readonly actor_id: string | null;
  readonly targets: readonly string[];
  readonly label: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

export interface CheckedTokenRow extends TokenRow {
  readonly secret_hash: string;
  readonly expired: boolean;
}

export const ADD_TOKEN: Statement = {
  name: "tokens.add",
  text: `
insert into resource.tokens (token_id, secret_hash, role, project_id, actor_id, targets, label, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8::double precision))
returning ${COLUMNS}`,
};

export const CHECK_TOKEN: Statement = {
  name: "tokens.check",
  text: `
select ${COLUMNS}, secret_hash, (revoked_at is not null or coalesce(expires_at <= now(), false)) as expired
  from resource.tokens where token_id = $1`,
};

/** $1 project or null for all, $2 after this id or null, $3 limit. */
export const LIST_TOKENS: Statement = {
  name: "tokens.list",
  text: `
select ${COLUMNS} from resource.tokens
 where ($1::text is null or project_id = $1::text) and ($2::text is null or token_id > $2::text)
 order by token_id limit $3`,
};

export interface RevokedRow {
  readonly role: string;
  readonly project_id: string | null;
  /** False: it had already been revoked. */
  readonly was_valid: boolean;
}

export const REVOKE_TOKEN: Statement = {
  name: "tokens.revoke",
  text: `
update resource.tokens set revoked_at = coalesce(revoked_at, now())
 where token_id = $1 and ($2::text is null or project_id = $2::text)
returning role, project_id, revoked_at = now() as was_valid`,
};

/** $1 token ids: those that are not valid any more, also because their project was deleted. */
export const READ_ENDED_TOKENS: Statement = {
  name: "tokens.read-ended",
  text: `
select i.id
  from unnest($1::text[]) as i (id)
  left join lateral (
    select true as here, x.revoked_at, x.expires_at from resource.tokens x where x.token_id = i.id offset 0) t on true
 where t.here is null or t.revoked_at is not null or t.expires_at <= now()`,
};
