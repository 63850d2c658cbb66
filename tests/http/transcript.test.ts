// Every route asked by curl: a right request is answered as the route's schema says, a wrong one is refused with a code.
// A route without both fails.

import { routes } from "@toolplane/server/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CurlAnswer, curl } from "./transcript/curl.ts";
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

const ask = async (method: string, { path, body, headers = {} }: Request): Promise<CurlAnswer> => {
  const { http, url } = world;
  const target = path.startsWith("/") ? path : `/projects/demo/${path}`;
  const answer = await curl({
    method,
    url: `${url}${target}`,
    headers: { authorization: `Bearer ${http.admin}`, "content-type": "application/json", ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  await http.check(target, answer.response);
  return answer;
};

test.each(asked.map(nameOf))("[API-transcript] curl: %s", async (name) => {
  const { good, bad, refused } = PAIRS[name] ?? expect.unreachable(name);
  const method = name.split(" ")[0] ?? "";
  // The stack itself holds the answer against the schema.
  const answer = await ask(method, await good(world));
  expect([name, answer.response.ok ? "" : answer.text]).toEqual([name, ""]);
  const refusal = await ask(method, bad);
  const { error } = JSON.parse(refusal.text) as { readonly error: { readonly message: string } };
  expect([refusal.response.status, error.message]).toEqual([refused, expect.stringMatching(/\w/)]);
});
