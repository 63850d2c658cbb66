// Login codes and browser sessions by id; secrets are compared outside the database, in constant time. A code is used up by the
// statement that finds it, so of two requests with one code only one gets a row.

import type { Statement } from "../sql/database.ts";
import type { TokenRow } from "../tokens/tokens.sql.ts";

const TOKEN =
  "t.token_id, t.role, t.project_id, t.actor_id, t.targets, t.label, t.created_at, t.expires_at, t.revoked_at";

/** $1 hash, $2 token, $3 seconds. */
export const ADD_CODE: Statement = {
  name: "logins.add-code",
  text: `
insert into resource.login_codes (code_hash, token_id, expires_at)
select $1, t.token_id, now() + make_interval(secs => $3::double precision)
  from resource.tokens t
 where t.token_id = $2 and t.revoked_at is null and coalesce(t.expires_at > now(), true)
returning expires_at`,
};

/** $1 token, $2 how many codes stay: older codes of the token and a bounded number of expired codes go. */
export const DROP_OLD_CODES: Statement = {
  name: "logins.drop-old-codes",
  text: `
delete from resource.login_codes
 where ctid = any (array(
   (select ctid from resource.login_codes where token_id = $1 order by created_at desc offset $2 limit 100)
   union
   (select ctid from resource.login_codes where expires_at < now() - interval '1 day' limit 100)))`,
};

/** $1 hash. No row: it is unknown, expired, used, or its token has ended. */
export const USE_CODE: Statement = {
  name: "logins.use-code",
  text: `
update resource.login_codes c set used_at = now()
  from resource.tokens t
 where c.code_hash = $1 and c.used_at is null and c.expires_at > now()
   and t.token_id = any (array[c.token_id]) and t.revoked_at is null and coalesce(t.expires_at > now(), true)
returning ${TOKEN}`,
};

interface SessionColumns {
  readonly session_id: string;
  readonly browser: string;
  readonly began_at: Date;
  readonly seen_at: Date;
  readonly ends_at: Date;
  readonly idle_at: Date;
  readonly ended_at: Date | null;
}

export type SessionRow = SessionColumns & TokenRow;

const SESSION = `s.session_id, s.browser, s.created_at as began_at, s.seen_at, s.expires_at as ends_at, s.idle_at, s.ended_at, ${TOKEN}`;

/** $1 id, $2 hash, $3 token, $4 browser, $5 seconds at most, $6 seconds without use. It does not outlive its token. */
export const ADD_SESSION: Statement = {
  name: "logins.add-session",
  text: `
with added as (
  insert into resource.browser_sessions (session_id, secret_hash, token_id, browser, expires_at, idle_at)
  select $1, $2, t.token_id, $4, least(now() + make_interval(secs => $5::double precision), t.expires_at),
         now() + make_interval(secs => $6::double precision)
    from resource.tokens t
   where t.token_id = $3 and t.revoked_at is null and coalesce(t.expires_at > now(), true)
  returning *)
select ${SESSION} from added s join resource.tokens t on t.token_id = any (array[s.token_id])`,
};

/** $1 token, $2 how many of its sessions go on; the oldest others end. */
export const END_OLDEST_SESSIONS: Statement = {
  name: "logins.end-oldest-sessions",
  text: `
update resource.browser_sessions set ended_at = now()
 where ctid = any (array(
   select ctid from resource.browser_sessions
    where token_id = $1 and ended_at is null
    order by created_at desc offset $2 limit 100))`,
};

/** Sessions that ended a month ago are of no use in a list. */
export const DROP_OLD_SESSIONS: Statement = {
  name: "logins.drop-old-sessions",
  text: `
delete from resource.browser_sessions
 where ctid = any (array(
   select ctid from resource.browser_sessions where expires_at < now() - interval '30 days' limit 100))`,
};

const OVER = `(s.ended_at is not null or s.expires_at <= now() or s.idle_at <= now()
        or t.revoked_at is not null or coalesce(t.expires_at <= now(), false))`;

export type CheckedSessionRow = SessionRow & {
  readonly secret_hash: string;
  readonly over: boolean;
  readonly unseen: boolean;
};

/** $1 id, $2 seconds after which its use is written down again. */
export const CHECK_SESSION: Statement = {
  name: "logins.check-session",
  text: `
select ${SESSION}, s.secret_hash, ${OVER} as over,
       s.seen_at < now() - make_interval(secs => $2::double precision) as unseen
  from resource.browser_sessions s join resource.tokens t on t.token_id = any (array[s.token_id])
 where s.session_id = $1`,
};

/** $1 id, $2 seconds. */
export const TOUCH_SESSION: Statement = {
  name: "logins.touch-session",
  text: `
update resource.browser_sessions
   set seen_at = now(), idle_at = now() + make_interval(secs => $2::double precision)
 where session_id = $1`,
};

export interface EndedSessionRow {
  readonly token_id: string;
  readonly project_id: string | null;
  readonly role: string;
  /** False: it had already ended. */
  readonly was_open: boolean;
}

export const END_SESSION: Statement = {
  name: "logins.end-session",
  text: `
update resource.browser_sessions s set ended_at = coalesce(s.ended_at, now())
  from resource.tokens t
 where s.session_id = $1 and t.token_id = any (array[s.token_id])
returning t.token_id, t.project_id, t.role, s.ended_at = now() as was_open`,
};

/** $1 after this id, $2 limit; those that have not ended by themselves or by a person. */
export const LIST_SESSIONS: Statement = {
  name: "logins.list-sessions",
  text: `
select ${SESSION}
  from resource.browser_sessions s join resource.tokens t on t.token_id = any (array[s.token_id])
 where s.session_id > $1 and ${OVER} is false
 order by s.session_id limit $2::int`,
};

/** $1 session ids: those that are over, also because their token is. */
export const READ_ENDED_SESSIONS: Statement = {
  name: "logins.read-ended",
  text: `
select i.id
  from unnest($1::text[]) as i (id)
  left join lateral (
    select ${OVER} as over
      from resource.browser_sessions s
      join resource.tokens t on t.token_id = any (array[s.token_id])
     where s.session_id = i.id offset 0) x on true
 where x.over is null or x.over`,
};
