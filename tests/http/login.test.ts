// A browser logs in, works and logs out; and everything by which another page, an old link or a planted cookie might get in.

import { meddle, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEvents } from "./event-reader.ts";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack();
});
afterAll(() => http[Symbol.asyncDispose]());

const OWN = { "sec-fetch-site": "same-origin" };
const cookieOf = (answer: { readonly headers: Headers }): string =>
  (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";

const makeCode = async (token = http.admin): Promise<string> =>
  String((await http.send("POST", "/login-links", undefined, { token })).body.code);

const post = (body: unknown, headers: Record<string, string> = OWN): Promise<Response> =>
  http.raw("/session", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

const logIn = async (): Promise<string> => cookieOf(await post({ code: await makeCode() }));

const ask = (method: string, path: string, cookie: string, headers: Record<string, string> = OWN): Promise<Response> =>
  http.raw(path, { method, headers: { cookie, ...headers } });

const statusOf = async (method: string, path: string, cookie: string, headers?: Record<string, string>) =>
  (await ask(method, path, cookie, headers)).status;

test("[SEC-11-L1] [SEC-11-L4] a code logs a browser in, once; the answer says who it is", async () => {
  const code = await makeCode();
  const answer = await post({ code }, { ...OWN, origin: "http://localhost", "user-agent": "a browser" });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("set-cookie")).toMatch(
    /^toolplane_session=tps_[0-9a-f]{16}_[0-9a-f]{64}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
  );
  expect(await answer.json()).toMatchObject({
    role: "admin",
    project: null,
    projects: expect.arrayContaining([expect.objectContaining({ project_id: http.t.projectId })]),
    session: { expires_at: expect.any(String) },
  });
  expect(await statusOf("GET", "/tokens", cookieOf(answer))).toBe(200);
  const who = await ask("GET", "/whoami", cookieOf(answer));
  expect(await who.json()).toMatchObject({ role: "admin", session: { expires_at: expect.any(String) } });
  expect((await post({ code })).status).toBe(401);
});

test("[SEC-11-L4] of five requests that bring one code at the same time, one gets in", async () => {
  const code = await makeCode();
  const answers = await Promise.all(Array.from({ length: 5 }, () => post({ code })));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ headers }) => headers.has("set-cookie"))).toHaveLength(1);
});

test("[SEC-11-L1] behind TLS the cookie is Secure", async () => {
  const byProxy = await post({ code: await makeCode() }, { ...OWN, "x-forwarded-proto": "https" });
  expect(byProxy.headers.get("set-cookie")).toMatch(/; Secure$/);
});

describe("[SEC-11-L2] a request with a cookie", () => {
  let cookie: string;
  beforeAll(async () => {
    cookie = await logIn();
  });

  test.each<[number, string, Record<string, string>]>([
    [404, "same-origin", { "sec-fetch-site": "same-origin" }],
    [404, "our own Origin", { origin: "http://localhost" }],
    [403, "no word about its origin", {}],
    [403, "a page of another port", { "sec-fetch-site": "same-site" }],
    [403, "the Origin of another port", { origin: "http://localhost:3000" }],
    [403, "another site", { "sec-fetch-site": "cross-site" }],
    [403, "another site that claims our Origin", { "sec-fetch-site": "cross-site", origin: "http://localhost" }],
    [403, "the address bar", { "sec-fetch-site": "none" }],
    [403, "an opaque origin", { origin: "null" }],
  ])("that changes something is answered with %i: %s", async (status, _what, headers) => {
    expect(await statusOf("DELETE", "/tokens/nothing", cookie, headers)).toBe(status);
  });

  test.each<[number, string, Record<string, string>]>([
    [200, "same-origin", { "sec-fetch-site": "same-origin" }],
    [200, "the address bar", { "sec-fetch-site": "none" }],
    [200, "an older browser", {}],
    [403, "a page of another port", { "sec-fetch-site": "same-site" }],
    [403, "another site", { "sec-fetch-site": "cross-site" }],
  ])("that reads, also a stream, is answered with %i: %s", async (status, _what, headers) => {
    expect(await statusOf("GET", "/tokens", cookie, headers)).toBe(status);
    const events = `/projects/${http.t.projectId}/events`;
    expect(await statusOf("HEAD", events, cookie, headers)).toBe(status);
  });

  test("logs in and out from its own page only", async () => {
    const code = await makeCode();
    expect((await post({ code }, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post({ code }, {})).status).toBe(403);
    expect(await statusOf("DELETE", "/session", cookie, { "sec-fetch-site": "same-site" })).toBe(403);
    expect(await statusOf("GET", "/tokens", cookie)).toBe(200);
    expect((await post({ code })).status).toBe(200);
  });

  test("is judged by its token when it has one", async () => {
    const headers = { ...OWN, authorization: "Bearer nonsense" };
    expect(await statusOf("GET", "/tokens", cookie, headers)).toBe(401);
  });
});

test("[SEC-11-L8] a login ends the session that the browser had, and takes no cookie that was planted", async () => {
  const first = await logIn();
  const planted = `toolplane_session=tps_${"0".repeat(16)}_${"0".repeat(64)}; ${first}`;
  const answer = await post({ code: await makeCode() }, { ...OWN, cookie: planted });
  const second = cookieOf(answer);
  expect(second).not.toBe(first);
  expect(await statusOf("GET", "/tokens", first)).toBe(401);
  expect(await statusOf("GET", "/tokens", second)).toBe(200);
});

describe("[SEC-11-L5] a session", () => {
  test("ends when its browser logs out", async () => {
    const cookie = await logIn();
    const out = await ask("DELETE", "/session", cookie);
    expect([out.status, out.headers.get("set-cookie")]).toEqual([204, expect.stringContaining("Max-Age=0")]);
    expect(await statusOf("GET", "/tokens", cookie)).toBe(401);
    expect(await statusOf("DELETE", "/session", cookie)).toBe(204);
  });

  test("has the rights of the token it was begun with, and ends with it", async () => {
    const { engine, projectId } = http.t;
    const { token, secret } = await engine.tokens.create({ role: "viewer", projectId });
    const answer = await post({ token: secret });
    const cookie = cookieOf(answer);
    expect(await answer.json()).toMatchObject({
      role: "viewer",
      project: projectId,
      projects: [{ project_id: projectId }],
    });
    expect(await statusOf("GET", `/projects/${projectId}/calls`, cookie)).toBe(200);
    expect(await statusOf("GET", "/projects/other/calls", cookie)).toBe(403);
    expect(await statusOf("POST", `/projects/${projectId}/calls`, cookie)).toBe(403);
    expect(await statusOf("POST", "/login-links", cookie)).toBe(403);
    await engine.tokens.revoke(token.tokenId);
    expect(await statusOf("GET", `/projects/${projectId}/calls`, cookie)).toBe(401);
  });

  test("is for people: tokens of programs get none", async () => {
    const { status, headers } = await post({ token: await http.toolToken() });
    expect([status, headers.get("set-cookie")]).toEqual([403, null]);
  });

  test("is listed and ended by an administrator, and its stream with it", async () => {
    const cookie = await logIn();
    const id = cookie.split("_")[2] ?? "";
    const stream = await openEvents(http, null, { cookie, ...OWN });
    const { items } = (await http.send("GET", "/sessions?limit=500")).body;
    expect(items).toContainEqual(expect.objectContaining({ session_id: id, role: "admin" }));
    expect((await http.send("DELETE", `/sessions/${id}`)).status).toBe(204);
    expect(await stream.until("event: end")).toContain("unauthorized");
    expect(await statusOf("GET", "/tokens", cookie)).toBe(401);
    expect((await http.send("GET", "/sessions?limit=500")).body.items).not.toContainEqual(
      expect.objectContaining({ session_id: id }),
    );
    expect((await http.send("DELETE", "/sessions/nothing")).status).toBe(404);
  });

  test.each(["expireSessions", "idleSessions"] as const)("is over in time: %s", async (change) => {
    const cookie = await logIn();
    await meddle(http.t, change);
    // A process that remembers nothing.
    const elsewhere = await http.t.another();
    expect(await elsewhere.logins.check(cookie.slice("toolplane_session=".length))).toBeUndefined();
  });
});

test("[SEC-11-L4] an expired code, a code of a revoked token and nonsense get nothing", async () => {
  const { engine } = http.t;
  const code = await makeCode();
  await meddle(http.t, "expireCodes");
  expect((await post({ code })).status).toBe(401);
  const gone = await engine.tokens.create({ role: "admin" });
  const orphan = await makeCode(gone.secret);
  await engine.tokens.revoke(gone.token.tokenId);
  expect((await post({ code: orphan })).status).toBe(401);
  for (const body of [{}, { code: 1 }, { code: "", token: "" }, { code: "x".repeat(600) }, [], "text"])
    expect((await post(body)).status).toBe(400);
  for (const bad of ["", "' or 1=1 --", "a\r\nSet-Cookie: x=y", "0".repeat(64)])
    expect((await post({ code: bad })).status).toBe(401);
});

test("[SEC-11-L6] [SEC-11-L7] the database and the audit hold no secret; a session is found again after a restart", async () => {
  const code = await makeCode();
  const cookie = cookieOf(await post({ code }, { ...OWN, "user-agent": "browser-of-the-audit" }));
  const secret = cookie.slice("toolplane_session=".length);
  await post({ code });
  const restarted = await http.t.another();
  expect((await restarted.logins.check(secret))?.token.role).toBe("admin");
  const dump = await withTestClient(http.t.database.url, async (client) => {
    const tables = ["login_codes", "browser_sessions", "audit"];
    const rows: unknown[] = [];
    for (const table of tables) rows.push((await client.query(`select * from resource.${table} x`)).rows);
    return JSON.stringify(rows);
  });
  expect(dump).toContain("browser-of-the-audit");
  for (const part of [code, secret, secret.split("_")[2] ?? expect.unreachable("no secret")])
    expect(dump).not.toContain(part);
  const acts = (await http.send("GET", "/audit?limit=500")).body.items.map(({ act }) => act);
  expect(acts).toEqual(
    expect.arrayContaining(["login_link.made", "session.begun", "session.refused", "session.ended"]),
  );
});

test("[SEC-11-L3] of wrong codes that arrive together twenty are looked up; then one at a time, and a right one gets in", async () => {
  await using own = await startHttpStack();
  const tryOut = (code: string): Promise<Response> =>
    own.raw("/session", { method: "POST", headers: OWN, body: JSON.stringify({ code }) });
  const answers = await Promise.all(Array.from({ length: 60 }, () => tryOut("wrong")));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(20);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.headers.get("retry-after")).toBe("1");
  expect(await refused?.json()).toMatchObject({ error: { message: expect.stringContaining("try again in 1 second") } });
  const right = await own.t.engine.logins.makeCode((await own.t.engine.tokens.check(own.admin))?.tokenId ?? "");
  expect((await tryOut(right.code)).status).toBe(200);
});
