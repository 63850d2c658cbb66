// Finds the caller of a request: the holder of a bearer token, or a browser with a session. When there is an Authorization header,
// only it counts: a program never depends on cookies, and a page cannot mix the two.

import { actorOfToken, type BrowserSession, type Engine, type Token, type TokenWatch } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import type { Context } from "hono";
import { refuseForeignPage } from "../login/same-origin.ts";
import { sessionSecretsOf } from "../login/session-cookie.ts";
import type { Caller } from "./route.ts";

export const callerOf = (token: Token, session?: BrowserSession): Caller => ({
  token,
  actorId: actorOfToken(token),
  session,
});

const notSaid = (): ToolplaneError =>
  new ToolplaneError("unauthorized", "send a token: Authorization: Bearer <token>; the first one is in <data>/token");

const endedToken = (): ToolplaneError =>
  new ToolplaneError("unauthorized", "the token is unknown, expired or revoked", {
    detail: { todo: "send another; an admin makes one with: toolplane token create" },
  });

const endedSession = (): ToolplaneError =>
  new ToolplaneError("unauthorized", "this browser is not logged in any more", {
    detail: { todo: "open a new login link; an admin makes one with: toolplane console" },
  });

export const endedCaller = ({ session }: Caller): ToolplaneError =>
  session === undefined ? endedToken() : endedSession();

const bearerOf = (header: string): string => {
  const [scheme, value, ...rest] = header.split(" ").filter(Boolean);
  if (scheme?.toLowerCase() !== "bearer" || value === undefined || rest.length > 0) throw notSaid();
  return value;
};

/** The session of a request's cookie. Undefined: there is none, or it is over. */
export const findSession = async (
  engine: Pick<Engine, "logins">,
  context: Context,
): Promise<BrowserSession | undefined> => {
  for (const secret of sessionSecretsOf(context.req.header("cookie"))) {
    const session = await engine.logins.check(secret);
    if (session !== undefined) return session;
  }
  return undefined;
};

export const provenanceOf = (context: Context) => ({
  method: context.req.method,
  origin: context.req.header("origin"),
  fetchSite: context.req.header("sec-fetch-site"),
});

const bySession = async (engine: Pick<Engine, "logins">, context: Context): Promise<Caller> => {
  if (sessionSecretsOf(context.req.header("cookie")).length === 0) throw notSaid();
  refuseForeignPage(provenanceOf(context));
  const session = await findSession(engine, context);
  if (session === undefined) throw endedSession();
  context.header("Cross-Origin-Resource-Policy", "same-origin");
  return callerOf(session.token, session);
};

export const authenticate = async (engine: Pick<Engine, "tokens" | "logins">, context: Context): Promise<Caller> => {
  const header = context.req.header("authorization");
  if (header === undefined) return bySession(engine, context);
  const token = await engine.tokens.check(bearerOf(header));
  if (token === undefined) throw endedToken();
  return callerOf(token);
};

/** Ends when the caller's token or session does. */
export const watchCaller = (engine: Pick<Engine, "tokens" | "logins">, { token, session }: Caller): TokenWatch =>
  session === undefined ? engine.tokens.watch(token) : engine.logins.watch(session);
