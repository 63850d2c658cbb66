// Logins of browsers: one-time links and the sessions they are exchanged for.
//   LN1. A login code is 32 random bytes, kept as a hash, valid for minutes, and used once: the statement that finds it uses it up,
//        in the transaction that makes the session.
//   LN2. A session acts with the rights of its token, never with more, and ends with it. It also ends at a fixed time, when it is
//        not used for a while, and when a person ends it.
//   LN3. The secret of a session is in the browser's cookie and nowhere else (I8): the table has its hash.
//   LN4. A request with a session asks the database at most every few seconds; an ended session works at most that much longer in
//        another process, and not at all where it was ended.

import { timingSafeEqual } from "node:crypto";
import { showName, storableText, ToolplaneError } from "@toolplane/protocol";
import { type Actor, recordActs } from "../audit/audit.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { RandomSecret } from "../ports/secrets.ts";
import { createRecent } from "../recent/recent.ts";
import type { Database, Queryer } from "../sql/database.ts";
import { createEnds, type TokenWatch } from "../tokens/token-ends.ts";
import type { TokenRow } from "../tokens/tokens.sql.ts";
import { hashOf, type Token, tokenOf } from "../tokens/tokens.ts";
import {
  ADD_CODE,
  ADD_SESSION,
  CHECK_SESSION,
  type CheckedSessionRow,
  DROP_OLD_CODES,
  DROP_OLD_SESSIONS,
  END_OLDEST_SESSIONS,
  END_SESSION,
  type EndedSessionRow,
  LIST_SESSIONS,
  READ_ENDED_SESSIONS,
  type SessionRow,
  TOUCH_SESSION,
  USE_CODE,
} from "./logins.sql.ts";

export interface BrowserSession {
  readonly sessionId: string;
  readonly token: Token;
  /** What the browser says of itself. */
  readonly browser: string;
  readonly beganAt: Date;
  readonly seenAt: Date;
  /** It ends then at the latest. */
  readonly expiresAt: Date;
}

export interface BegunSession {
  readonly session: BrowserSession;
  /** For the cookie; it is nowhere else. */
  readonly secret: string;
}

export interface Logins {
  /** A one-time code for the rights of this token; it is in the answer and nowhere else. */
  makeCode(tokenId: string, by?: Actor): Promise<{ readonly code: string; readonly expiresAt: Date }>;
  /** Undefined when the code is unknown, used, expired, or its token has ended. */
  beginWithCode(code: string, browser: string): Promise<BegunSession | undefined>;
  /** For a token that was checked just now. */
  beginWithToken(token: Token, browser: string): Promise<BegunSession | undefined>;
  /** The session behind a cookie, or undefined when it is none of ours or over. */
  check(secret: string): Promise<BrowserSession | undefined>;
  /** Those that are open, by id. */
  list(page?: {
    readonly after?: string | undefined;
    readonly limit?: number | undefined;
  }): Promise<readonly BrowserSession[]>;
  end(sessionId: string, by?: Actor): Promise<void>;
  /** Writes down a login that was refused. */
  refused(by: Actor, reason: string): Promise<void>;
  /** For as long as a request waits with this session. */
  watch(session: Pick<BrowserSession, "sessionId" | "expiresAt">): TokenWatch;
  close(): void;
}

/** Long enough to copy a link from a terminal into a browser. */
const CODE_SECONDS = 15 * 60;
/** Older codes of a token go: a program that makes links in a loop does not fill the table. */
const CODES_PER_TOKEN = 20;
/** A working week: after it a person logs in again, whatever the browser did. */
const SESSION_SECONDS = 7 * 24 * 3_600;
/** One working day: the next morning a person logs in again. */
const IDLE_SECONDS = 12 * 3_600;
const SESSIONS_PER_TOKEN = 50;
/** The time of last use is kept to the minute, so that most requests write nothing. */
const SEEN_SECONDS = 60;
const SECRET_BYTES = 32;
const MAX_REMEMBERED = 1_000;
/** A ring can be lost (I13); see LN4. */
const REMEMBER_MS = 5_000;
const MAX_BROWSER = 200;
const MAX_PAGE = 500;

const CODE = /^[0-9a-f]{64}$/;
const SECRET = /^tps_([0-9a-f]{16})_[0-9a-f]{64}$/;

const sessionOf = (row: SessionRow): BrowserSession => ({
  sessionId: row.session_id,
  token: tokenOf(row),
  browser: row.browser,
  beganAt: row.began_at,
  seenAt: row.seen_at,
  expiresAt: row.ends_at,
});

/** A session speaks for the holder of its token. */
const actorOf = ({ tokenId, role, label, actorId }: Token): Actor => ({
  door: "http",
  tokenId,
  role,
  actor: label || (actorId ?? "sys.api"),
});

export const createLogins = (deps: {
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  readonly secret: RandomSecret;
}): Logins => {
  const { db, doorbell, clock } = deps;
  const known = createRecent<{ readonly session: BrowserSession; readonly until: number }>(MAX_REMEMBERED);
  const ends = createEnds({ db, doorbell, clock, statement: READ_ENDED_SESSIONS });
  const stopListening = doorbell.listen("registry", () => known.clear());

  const begin = async (
    tx: Queryer,
    token: Token,
    via: "code" | "token",
    browser: string,
  ): Promise<BegunSession | undefined> => {
    const sessionId = deps.secret(8);
    const secret = `tps_${sessionId}_${deps.secret(SECRET_BYTES)}`;
    const [row] = await tx.query<SessionRow>(ADD_SESSION, [
      sessionId,
      hashOf(secret).toString("hex"),
      token.tokenId,
      storableText(browser, MAX_BROWSER),
      SESSION_SECONDS,
      IDLE_SECONDS,
    ]);
    if (row === undefined) return undefined;
    await tx.query(END_OLDEST_SESSIONS, [token.tokenId, SESSIONS_PER_TOKEN]);
    await tx.query(DROP_OLD_SESSIONS);
    const detail = { role: token.role, via, browser: row.browser };
    await recordActs(tx, actorOf(token), [
      { projectId: token.projectId, act: "session.begun", subject: sessionId, detail },
    ]);
    return { session: sessionOf(row), secret };
  };

  return {
    async makeCode(tokenId, by) {
      const code = deps.secret(SECRET_BYTES);
      const expiresAt = await db.transaction(async (tx) => {
        const [row] = await tx.query<{ expires_at: Date }>(ADD_CODE, [
          hashOf(code).toString("hex"),
          tokenId,
          CODE_SECONDS,
        ]);
        if (row === undefined) throw new ToolplaneError("not_found", `there is no valid token ${showName(tokenId)}`);
        await tx.query(DROP_OLD_CODES, [tokenId, CODES_PER_TOKEN]);
        await recordActs(tx, by, [{ projectId: null, act: "login_link.made", subject: tokenId }]);
        return row.expires_at;
      });
      return { code, expiresAt };
    },
    async beginWithCode(code, browser) {
      if (!CODE.test(code)) return undefined;
      return db.transaction(async (tx) => {
        const [row] = await tx.query<TokenRow>(USE_CODE, [hashOf(code).toString("hex")]);
        return row && begin(tx, tokenOf(row), "code", browser);
      });
    },
    beginWithToken: (token, browser) => db.transaction((tx) => begin(tx, token, "token", browser)),
    async check(secret) {
      const sessionId = SECRET.exec(secret)?.[1];
      if (sessionId === undefined) return undefined;
      const hash = hashOf(secret);
      const key = hash.toString("hex");
      const found = known.get(key);
      if (found !== undefined && found.until > clock.now()) return found.session;
      const [row] = await db.query<CheckedSessionRow>(CHECK_SESSION, [sessionId, SEEN_SECONDS]);
      if (row === undefined || row.over || !timingSafeEqual(hash, Buffer.from(row.secret_hash, "hex")))
        return undefined;
      const session = sessionOf(row);
      if (row.unseen) await db.query(TOUCH_SESSION, [sessionId, IDLE_SECONDS]);
      known.set(key, { session, until: Math.min(clock.now() + REMEMBER_MS, session.expiresAt.getTime()) });
      return session;
    },
    async list({ after = "", limit = MAX_PAGE } = {}) {
      const rows = await db.query<SessionRow>(LIST_SESSIONS, [after, Math.min(limit, MAX_PAGE)]);
      return rows.map(sessionOf);
    },
    async end(sessionId, by) {
      const ended = await db.transaction(async (tx) => {
        const [row] = await tx.query<EndedSessionRow>(END_SESSION, [sessionId]);
        if (row?.was_open === true)
          await recordActs(tx, by, [
            { projectId: row.project_id, act: "session.ended", subject: sessionId, detail: { role: row.role } },
          ]);
        return row;
      });
      if (ended === undefined)
        throw new ToolplaneError("not_found", `there is no session ${showName(sessionId)}`, {
          detail: { todo: "see which browsers are logged in: toolplane sessions list" },
        });
      known.clear();
      doorbell.ring("registry");
    },
    refused: (by, reason) =>
      recordActs(db, by, [{ projectId: null, act: "session.refused", subject: "login", detail: { reason } }]),
    watch: ({ sessionId, expiresAt }) => ends.watch({ id: sessionId, expiresAt }),
    close() {
      stopListening();
      ends.close();
    },
  };
};
