// API tokens: `tp_<id>_<secret>`. The secret is 32 random bytes, so a plain SHA-256 is as good as any slow hash; it is compared
// in constant time and never stored (I8). The memory of tokens is dropped by a ring of the registry, and after a few seconds in
// any case, so that a revoked token stops working everywhere.

import { hash, timingSafeEqual } from "node:crypto";
import { badRequest, isToken, showName, ToolplaneError } from "@toolplane/protocol";
import { type Act, type Actor, recordActs } from "../audit/audit.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { RandomSecret } from "../ports/secrets.ts";
import { createRecent } from "../recent/recent.ts";
import type { Database, Queryer } from "../sql/database.ts";
import { createEnds, type TokenWatch } from "./token-ends.ts";
import {
  ADD_TOKEN,
  CHECK_TOKEN,
  type CheckedTokenRow,
  LIST_TOKENS,
  READ_ENDED_TOKENS,
  REVOKE_TOKEN,
  type RevokedRow,
  type TokenRow,
} from "./tokens.sql.ts";

export const ROLES = ["admin", "operator", "agent", "tool", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export interface Token {
  readonly tokenId: string;
  readonly role: Role;
  /** Null: every project; only an admin's. */
  readonly projectId: string | null;
  readonly actorId: string | null;
  readonly targets: readonly string[];
  readonly label: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface TokenRequest {
  readonly role: Role;
  readonly projectId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly label?: string | undefined;
  readonly ttlSeconds?: number | undefined;
}

export interface Tokens {
  /** The secret is in the answer and nowhere else. */
  create(request: TokenRequest, by?: Actor): Promise<{ readonly token: Token; readonly secret: string }>;
  /** The token behind a secret, or undefined when it is none of ours, expired or revoked. */
  check(secret: string): Promise<Token | undefined>;
  list(page?: {
    readonly projectId?: string | undefined;
    readonly after?: string | undefined;
    readonly limit?: number | undefined;
  }): Promise<readonly Token[]>;
  revoke(tokenId: string, projectId?: string, by?: Actor): Promise<void>;
  /** For as long as a request waits with this token. */
  watch(token: Pick<Token, "tokenId" | "expiresAt">): TokenWatch;
  close(): void;
}

const SECRET_BYTES = 32;
const MAX_REMEMBERED = 1_000;
/** How long a token is trusted without a look at its row. The bell of a revocation can be lost (I13); the token then works this much longer. */
const REMEMBER_MS = 5_000;
const MAX_PAGE = 500;
const MAX_TTL_SECONDS = 100 * 366 * 24 * 3_600;

/** What is stored of a secret. */
export const hashOf = (secret: string): Buffer => hash("sha256", secret, "buffer");

export const tokenOf = (row: TokenRow): Token => ({
  tokenId: row.token_id,
  role: row.role as Role,
  projectId: row.project_id,
  actorId: row.actor_id,
  targets: row.targets,
  label: row.label,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
});

/** The id inside a token's text, or undefined when it does not look like one. */
const tokenIdOf = (text: string): string | undefined => {
  const [prefix, id, secret, ...rest] = text.split("_");
  const wellFormed = prefix === "tp" && rest.length === 0 && secret?.length === SECRET_BYTES * 2;
  return wellFormed && id !== undefined && isToken(id) && id.length <= 32 ? id : undefined;
};

const planToken = (request: TokenRequest): { actorId: string | null; targets: readonly string[] } => {
  const targets = request.targets ?? [];
  const { ttlSeconds } = request;
  if (!ROLES.includes(request.role)) throw badRequest(`a token's role is one of ${ROLES.join(", ")}`);
  if (ttlSeconds !== undefined && !(ttlSeconds > 0 && ttlSeconds <= MAX_TTL_SECONDS))
    throw badRequest("a token that expires does so within a hundred years");
  for (const target of targets)
    if (!isToken(target)) throw badRequest(`a target is letters, digits, _ and -, not ${showName(target)}`);
  if (request.role !== "admin" && request.projectId === undefined)
    throw badRequest(`a token of role ${request.role} belongs to one project: name it`);
  if (request.role !== "tool") return { actorId: request.actorId ?? null, targets };
  if (targets.length === 0) throw badRequest("a tool's token names the targets it serves: set targets");
  const actorId = request.actorId ?? `tool.${targets[0]}`;
  if (!actorId.startsWith("tool.") || !isToken(actorId.slice("tool.".length)))
    throw badRequest("the actor of a tool's token is tool.<name>");
  return { actorId, targets };
};

/** Under the token's project; an administrator's token belongs to the whole plane. */
const actOf = (
  act: "token.created" | "token.revoked",
  tokenId: string,
  projectId: string | null,
  { role, actorId, targets = [], label = "", ttlSeconds }: Omit<TokenRequest, "projectId">,
): Act => ({
  projectId,
  act,
  subject: tokenId,
  detail: {
    role,
    ...(actorId === undefined ? {} : { actor: actorId }),
    ...(targets.length === 0 ? {} : { targets: [...targets] }),
    ...(label === "" ? {} : { label }),
    ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
  },
});

export const createTokens = (deps: {
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  readonly secret: RandomSecret;
}): Tokens => {
  const { db, doorbell, clock } = deps;
  const known = createRecent<{ readonly token: Token; readonly until: number }>(MAX_REMEMBERED);
  const ends = createEnds({ db, doorbell, clock, statement: READ_ENDED_TOKENS });
  const stopListening = doorbell.listen("registry", () => known.clear());

  return {
    async create(request, by) {
      const { actorId, targets } = planToken(request);
      const tokenId = deps.secret(6);
      const secret = `tp_${tokenId}_${deps.secret(SECRET_BYTES)}`;
      const values = [
        tokenId,
        hashOf(secret).toString("hex"),
        request.role,
        request.projectId ?? null,
        actorId,
        targets,
        request.label ?? "",
        request.ttlSeconds ?? null,
      ];
      const add = async (tx: Queryer): Promise<TokenRow | undefined> => {
        const [added] = await tx.query<TokenRow>(ADD_TOKEN, values);
        await recordActs(tx, by, [
          actOf("token.created", tokenId, request.projectId ?? null, {
            ...request,
            actorId: actorId ?? undefined,
            targets,
          }),
        ]);
        return added;
      };
      const row = await db.transaction(add).catch((error: unknown) => {
        if (error instanceof ToolplaneError && error.detail?.sqlstate === "23503")
          throw new ToolplaneError("not_found", `there is no project ${showName(request.projectId ?? "")}`);
        throw error;
      });
      return { token: tokenOf(row as TokenRow), secret };
    },
    async check(secret) {
      const tokenId = tokenIdOf(secret);
      if (tokenId === undefined) return undefined;
      const hash = hashOf(secret);
      const found = known.get(hash.toString("hex"));
      if (found !== undefined && found.until > clock.now()) return found.token;
      const [row] = await db.query<CheckedTokenRow>(CHECK_TOKEN, [tokenId]);
      if (row === undefined || row.expired || !timingSafeEqual(hash, Buffer.from(row.secret_hash, "hex")))
        return undefined;
      const token = tokenOf(row);
      const until = Math.min(clock.now() + REMEMBER_MS, token.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
      known.set(hash.toString("hex"), { token, until });
      return token;
    },
    async list({ projectId, after, limit } = {}) {
      const rows = await db.query<TokenRow>(LIST_TOKENS, [
        projectId ?? null,
        after ?? null,
        Math.min(limit ?? MAX_PAGE, MAX_PAGE),
      ]);
      return rows.map(tokenOf);
    },
    async revoke(tokenId, projectId, by) {
      const revoked = await db.transaction(async (tx) => {
        const [row] = await tx.query<RevokedRow>(REVOKE_TOKEN, [tokenId, projectId ?? null]);
        if (row?.was_valid === true)
          await recordActs(tx, by, [actOf("token.revoked", tokenId, row.project_id, { role: row.role as Role })]);
        return row;
      });
      if (revoked === undefined)
        throw new ToolplaneError("not_found", `there is no token ${showName(tokenId)}`, {
          detail: { todo: "see which tokens there are: toolplane token list" },
        });
      known.clear();
      doorbell.ring("registry");
    },
    watch: ({ tokenId, expiresAt }) => ends.watch({ id: tokenId, expiresAt }),
    close() {
      stopListening();
      ends.close();
    },
  };
};
