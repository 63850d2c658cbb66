// Every route, asked by every role for its own things, another agent's, another target's and another project's. Both the
// status and the body count: an answer must hold nothing of an owner whom the caller may not see.

import { actorOfToken, type Role } from "@toolplane/engine";
import { streamToken } from "@toolplane/protocol";
import { routes } from "@toolplane/server/internal";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { callOf, EXPECTED, type Expected, type Named } from "./matrix/expected.ts";
import { AGENTS, type Belongings, PROJECTS, type Project, startWorld, type World } from "./matrix/world.ts";

const OWNERSHIPS = ["own", "another agent's", "another target's", "another project's id", "another project"] as const;
type Ownership = (typeof OWNERSHIPS)[number];

interface Asker {
  readonly name: string;
  readonly token: string | null;
  /** Undefined: refused before anything is looked at. */
  readonly role?: Role | undefined;
  readonly project?: Project | undefined;
  readonly agent?: string | undefined;
}

const ROLES: readonly Role[] = ["admin", "operator", "viewer", "agent", "tool"];
const SENTINEL = "the-stream-ends-here";
let world: World;
const askers: Asker[] = [];

beforeAll(async () => {
  world = await startWorld();
  const { engine } = world.http.t;
  const tokenOf = (name: string): string => world.tokens.get(name) ?? expect.unreachable(name);
  askers.push({ name: "admin", token: tokenOf("admin"), role: "admin" });
  for (const project of PROJECTS) {
    for (const role of ["operator", "viewer", "tool"] as const)
      askers.push({ name: `${role} of ${project}`, token: tokenOf(`${project} ${role}`), role, project });
    askers.push({
      ...{ name: `agent ann of ${project}`, token: tokenOf(`${project} agent ann`) },
      ...{ role: "agent", project, agent: "ann" },
    });
    askers.push({ name: `agentless of ${project}`, token: tokenOf(`${project} agent`), role: "agent", project });
  }
  askers.push({ name: "nobody", token: null });
  for (const role of ROLES) {
    const request = {
      role,
      projectId: role === "admin" ? undefined : "demo",
      targets: role === "tool" ? ["test"] : undefined,
      actorId: role === "agent" ? "ann" : undefined,
    };
    const revoked = await engine.tokens.create(request);
    await engine.tokens.revoke(revoked.token.tokenId);
    askers.push({ name: `a revoked ${role}`, token: revoked.secret });
    const expired = await engine.tokens.create({ ...request, ttlSeconds: 0.001 });
    await vi.waitUntil(async () => (await engine.tokens.check(expired.secret)) === undefined);
    askers.push({ name: `an expired ${role}`, token: expired.secret });
  }
  for (const project of PROJECTS) {
    const subject = `cg.v1r4.${project}.public.evt.agent.ann.state`;
    const payload = JSON.stringify({ agent_turn_id: world.of(project, "ann").turn, said: SENTINEL });
    await engine.bus.publish([{ subject, headers: {}, payload }]);
    // A token that names no agent sees the events of its own calls: here, one that ends its stream.
    const token = await engine.tokens.check(tokenOf(`${project} agent`));
    const own = streamToken(token === undefined ? expect.unreachable(project) : actorOfToken(token));
    const last = JSON.stringify({ said: SENTINEL });
    await engine.bus.publish([{ subject: subject.replace(".ann.", `.${own}.`), headers: {}, payload: last }]);
  }
});
afterAll(() => world[Symbol.asyncDispose]());

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

test("[SEC-matrix] every route says here whom it serves, and nothing here is without a route", () => {
  expect(routes.map(nameOf).sort()).toEqual(Object.keys(EXPECTED).sort());
});

/** Which of the cases mean something for a route. */
const casesOf = (path: string, { kind, body }: Expected): readonly Ownership[] =>
  OWNERSHIPS.filter((ownership) => {
    if (ownership === "own") return true;
    if (ownership === "another project") return path.includes(":project");
    if (ownership === "another target's") return kind === "served";
    const names = /:(call|turn|card|box)/.test(path) || (kind === "listed" && body !== undefined);
    if (ownership === "another agent's") return kind !== "served" && (names || path.endsWith("/:agent/turns"));
    return names;
  });

const namedBy = (ownership: Ownership): Named => {
  const agent = ownership === "another agent's" ? "bob" : "ann";
  const project = ownership.startsWith("another project") ? "other" : "demo";
  return { ...world.of(project, agent), agent, target: ownership === "another target's" ? "elsewhere" : "test" };
};

interface Asking {
  readonly project: Project;
  readonly path: string;
  readonly named: Named;
}

const askingOf = (path: string, expected: Expected, ownership: Ownership, allowed: boolean): Asking => {
  const named = namedBy(ownership);
  const project = ownership === "another project" ? "other" : "demo";
  const spare = allowed && expected.spare === true;
  const call = expected.kind === "served" ? callOf(named) : named.call;
  const ids: Readonly<Record<string, string>> = {
    ...{
      ":project": spare && path === "/projects/:project" ? "nothing" : project,
      ":agent": spare ? "x" : named.agent,
    },
    ...{ ":call": spare ? "nothing" : call, ":turn": named.turn, ":card": named.card, ":box": named.box },
    ":target": named.target,
  };
  return { project, named, path: path.replaceAll(/:[a-z]+/g, (param) => ids[param] ?? "nothing") };
};

type Outcome = "401" | "403" | "404" | "given";

const outcomeFor = (asker: Asker, path: string, expected: Expected, ownership: Ownership): Outcome => {
  const { role } = asker;
  if (role === undefined) return "401";
  const project = ownership === "another project" ? "other" : "demo";
  if (!expected.roles.includes(role)) return "403";
  if (expected.kind === "self") return "given";
  if (role !== "admin" && asker.project !== project) return "403";
  // Of another project from here on: only its id, in this project's path, or the project itself, by those who may.
  if (ownership === "another project's id") return expected.kind === "listed" ? "given" : "404";
  if (role === "tool" && ownership === "another target's") return "403";
  if (role !== "agent" || expected.kind !== "owned") return "given";
  // It starts turns and actions of any agent of its project, and owns what was started with it.
  if (asker.agent === undefined && path.includes("/agents/:agent/")) return "given";
  return asker.agent === undefined || ownership === "another agent's" ? "403" : "given";
};

/** Whose texts and ids an answer may hold. */
const maySee = (asker: Asker, expected: Expected, project: Project, owner: { project: Project; agent: string }) => {
  if (asker.role === "admin" && !expected.roles.includes("operator") && expected.kind === "shared") return true;
  if (owner.project !== project) return false;
  if (asker.role === "admin" || asker.role === "operator" || asker.role === "viewer") return true;
  if (asker.role === "tool") return expected.kind === "served";
  return asker.role === "agent" && owner.agent === asker.agent;
};

const readStream = async (response: Response): Promise<string> => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (!text.includes(SENTINEL)) {
    const { value, done } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  await reader.cancel();
  return text;
};

const ask = async (asker: Asker, method: string, expected: Expected, { path, named }: Asking) => {
  const body = expected.body === undefined ? undefined : JSON.stringify(expected.body(named));
  const response = await world.http.raw(path, {
    method,
    headers: {
      "content-type": "application/json",
      ...(asker.token === null ? {} : { authorization: `Bearer ${asker.token}` }),
      ...expected.headers?.(named),
    },
    ...(method === "GET" || body === undefined ? {} : { body }),
  });
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const text = isStream ? await readStream(response) : await response.text();
  return { status: response.status, text, sent: `${path} ${body} ${JSON.stringify(expected.headers?.(named))}` };
};

const isAsExpected = (status: number, outcome: Outcome): boolean =>
  outcome === "given" ? status !== 401 && status !== 403 && status < 500 : String(status) === outcome;

const leaksOf = (text: string, sent: string, owner: Belongings): readonly string[] =>
  [owner.mark, ...owner.ids].filter((secret) => text.includes(secret) && !sent.includes(secret));

/** What was wrong with one answer, in words; empty when all was right. */
const judge = async (asker: Asker, method: string, path: string, ownership: Ownership): Promise<readonly string[]> => {
  const expected = EXPECTED[`${method} ${path}`] ?? expect.unreachable(path);
  const outcome = outcomeFor(asker, path, expected, ownership);
  const asking = askingOf(path, expected, ownership, outcome === "given");
  const { status, text, sent } = await ask(asker, method, expected, asking);
  const told = `${asker.name}, ${ownership}: ${status} instead of ${outcome}`;
  const wrong = isAsExpected(status, outcome) ? [] : [`${told} ${text.slice(0, 120)}`];
  for (const project of PROJECTS)
    for (const agent of AGENTS) {
      const refused = outcome !== "given";
      if (!refused && maySee(asker, expected, asking.project, { project, agent })) continue;
      for (const leak of leaksOf(text, sent, world.of(project, agent)))
        wrong.push(`${asker.name}, ${ownership}: shows ${leak} of ${agent} in ${project}`);
    }
  const mine = outcome === "given" && expected.shows === true && ownership !== "another project's id";
  if (mine && maySee(asker, expected, asking.project, { project: asking.project, agent: asking.named.agent })) {
    if (!text.includes(asking.named.mark)) wrong.push(`${asker.name}, ${ownership}: does not show what it should`);
  }
  return wrong;
};

// What changes something comes last, so that what is looked at is still there.
const inOrder = [...routes].sort((a, b) => Number(a.method !== "GET") - Number(b.method !== "GET"));

describe("[SEC-matrix] [SEC-14-1] route, role and owner", () => {
  test.each(inOrder.map(({ method, path }) => [method, path] as const))("%s %s", async (method, path) => {
    const expected = EXPECTED[`${method} ${path}`] ?? expect.unreachable(`${method} ${path} is not in the table`);
    const wrong: string[] = [];
    for (const ownership of casesOf(path, expected))
      for (const asker of askers) {
        // Whoever is refused before anything is looked at is refused for everything alike.
        if (asker.role === undefined && ownership !== "own") continue;
        wrong.push(...(await judge(asker, method, path, ownership)));
      }
    expect(wrong).toEqual([]);
  });
});
