// Logging a browser in and out: POST /session exchanges a one-time code, or a token that a person typed in, for a cookie;
// DELETE /session ends the session.
//   LI1. Both need a request of our own page (same-origin.ts), so no other page can log a person in or out.
//   LI2. A login always makes a new session, and ends the session that the browser had: a cookie that an attacker planted before is worthless.
//   LI3. Failures are counted per address (login-throttle.ts) and written to the audit, without the code or token that was sent.

import type { Actor, BegunSession, Engine, Log } from "@toolplane/engine";
import { parseWith, ToolplaneError } from "@toolplane/protocol";
import type { Context } from "hono";
import { z } from "zod";
import { actorOf } from "../http/actor-of.ts";
import { callerOf, findSession, provenanceOf } from "../http/authenticate.ts";
import { isBehindTls } from "../http/check-host.ts";
import { parseBody, readBody } from "../http/read-body.ts";
import { PEOPLE } from "../http/route.ts";
import { whoamiOf } from "../http/whoami.ts";
import type { LoginThrottle, LoginTry } from "./login-throttle.ts";
import { refuseForeignLogin } from "./same-origin.ts";
import { forgetCookie, sessionCookie } from "./session-cookie.ts";

export interface LoginDeps {
  readonly engine: Engine;
  readonly throttle: LoginThrottle;
  readonly log: Log;
}

const MAX_BODY_BYTES = 4 * 1024;

/** Given as a code or as a token; a code that is not a code is refused as a wrong one. */
const loginBody = z.union([
  z.strictObject({ code: z.string().max(512) }),
  z.strictObject({ token: z.string().max(512) }),
]);

interface NodeEnv {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string | undefined } | undefined } | undefined;
}

const addressOf = (context: Context): string =>
  ((context.env ?? {}) as NodeEnv).incoming?.socket?.remoteAddress ?? "unknown";

/** A wrong answer harms only the browser that asks. */
const isSecure = (context: Context): boolean => isBehindTls(context.req.header("x-forwarded-proto"));

const wrongRole = (role: string): ToolplaneError =>
  new ToolplaneError("auth_failed", `a token of role ${role} is for programs; people log in as ${PEOPLE.join(", ")}`);

interface Attempt {
  readonly address: string;
  readonly counted: LoginTry;
}

const refuse = async ({ engine, log }: LoginDeps, { address, counted }: Attempt, reason: string): Promise<void> => {
  if (!counted.failed()) return;
  const by: Actor = { door: "http", tokenId: null, role: "none", actor: address };
  log.warn("a login was refused", { address, reason });
  await engine.logins.refused(by, reason);
};

const readLogin = async (context: Context): Promise<z.output<typeof loginBody>> =>
  parseWith(loginBody, await parseBody(await readBody(context.req.raw, MAX_BODY_BYTES)), "the body");

const begin = async (
  deps: LoginDeps,
  context: Context,
  body: z.output<typeof loginBody>,
  attempt: Attempt,
): Promise<BegunSession> => {
  const { engine } = deps;
  const browser = context.req.header("user-agent") ?? "";
  if ("code" in body) {
    const begun = await engine.logins.beginWithCode(body.code, browser);
    if (begun !== undefined) return begun;
    await refuse(deps, attempt, "the code is unknown, used or expired");
    throw new ToolplaneError("unauthorized", "this login link is unknown, expired or was used already", {
      detail: { todo: "make a new one with: toolplane console" },
    });
  }
  const token = await engine.tokens.check(body.token);
  if (token !== undefined && !PEOPLE.includes(token.role)) throw wrongRole(token.role);
  const begun = token && (await engine.logins.beginWithToken(token, browser));
  if (begun !== undefined) return begun;
  await refuse(deps, attempt, "the token is unknown, expired or revoked");
  throw new ToolplaneError("unauthorized", "the token is unknown, expired or revoked");
};

export const logIn = async (deps: LoginDeps, context: Context): Promise<Response> => {
  refuseForeignLogin(provenanceOf(context), context.req.header("host") ?? "");
  const address = addressOf(context);
  // Before it counts: a body that comes slowly holds no place of its address.
  const body = await readLogin(context);
  using counted = deps.throttle.begin(address);
  const before = await findSession(deps.engine, context);
  const { session, secret } = await begin(deps, context, body, { address, counted });
  const caller = callerOf(session.token, session);
  if (before !== undefined) await deps.engine.logins.end(before.sessionId, actorOf(caller));
  const seconds = (session.expiresAt.getTime() - session.beganAt.getTime()) / 1_000;
  context.header("Set-Cookie", sessionCookie(secret, { isSecure: isSecure(context), seconds }));
  return context.json(await whoamiOf(deps.engine, caller));
};

export const logOut = async ({ engine }: Pick<LoginDeps, "engine">, context: Context): Promise<Response> => {
  refuseForeignLogin(provenanceOf(context), context.req.header("host") ?? "");
  const session = await findSession(engine, context);
  if (session !== undefined) await engine.logins.end(session.sessionId, actorOf(callerOf(session.token, session)));
  context.header("Set-Cookie", forgetCookie(isSecure(context)));
  return context.body(null, 204);
};
