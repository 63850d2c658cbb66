// Every route as in a transcript of curl: a right request is answered as the route's schema says, a wrong one is refused with a code.
// A route without both fails.

import { routes } from "@toolplane/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PAIRS, type Request } from "./transcript/pairs.ts";
import { startWorld, type World } from "./transcript/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

/** What MCP says to what is in tests/mcp. */
const asked = routes.filter(({ path }) => path !== "/mcp/:project");

test("[API-transcript] every route is asked here, well and badly", () => {
  expect(Object.keys(PAIRS).sort()).toEqual(asked.map(nameOf).sort());
});

const ask = ({ http }: World, method: string, { path, body, headers = {} }: Request): Promise<Response> =>
  http.raw(path.startsWith("/") ? path : `/projects/demo/${path}`, {
    method,
    headers: { authorization: `Bearer ${http.admin}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test.each(asked.map(nameOf))("[API-transcript] %s", async (name) => {
  const { good, bad, refused } = PAIRS[name] ?? expect.unreachable(name);
  const method = name.split(" ")[0] ?? "";
  // The stack itself holds the answer against the schema.
  const answer = await ask(world, method, await good(world));
  const said = answer.ok ? "" : await answer.text();
  expect([name, said]).toEqual([name, ""]);
  await answer.body?.cancel();
  const refusal = await ask(world, method, bad);
  const { error } = (await refusal.json()) as { readonly error: { readonly message: string } };
  expect([refusal.status, error.message]).toEqual([refused, expect.stringMatching(/\w/)]);
});
