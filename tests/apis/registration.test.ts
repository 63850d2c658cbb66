// What is refused when a tool of the HTTP executor is registered, and what becomes of definitions from before a rule.

import { checkApiTool } from "@toolplane/server/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiWorld, openApiWorld } from "./api-world.ts";
import { defineJina as define, GUIDE } from "./jina-guide.ts";

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld({ checkTool: checkApiTool });
  world.serve();
});
afterAll(() => world?.[Symbol.asyncDispose]());
const register = (options: object, target?: string) =>
  world.engine.tools.upsertTool(world.projectId, define("strict", options, target));

test("[API-JINA-1] the guide's example is taken as it is", async () => {
  expect((await register(GUIDE)).toolName).toBe("strict");
});

test("[API-JINA-1] the older options alone: the path of the search is enough", async () => {
  expect((await register({ openapi: { path: "/search" } })).toolName).toBe("strict");
});

test.each([
  [{ jina: { mode: "search", endpoint: "/x" } }, "endpoint"],
  [{ jina: { mode: "embed" } }, "mode"],
  [{ jina: { mode: "search", base_url: "https://evil.example" } }, "s.jina.ai"],
  [{ jina: { mode: "search", method: "TRACE" } }, "options.jina.method is not a method"],
  [{ jina: { mode: "search", headers: { "X\r\nA": "b" } } }, "options.jina.headers cannot be sent"],
  [{ jina: { mode: "search", headers: { XA: "b\r\nC: d" } } }, "options.jina.headers cannot be sent"],
  [{ openapi: { base_url: "not an address" } }, "base_url"],
  [{ openapi: { base_url: "https://a.example", headers: { Host: "b" } } }, "options.openapi.headers cannot be sent"],
] as const)("[API-3-J1] %j could not be run and is refused by name", async (options, word) => {
  await expect(register(options)).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining(word),
  });
});

test.each([
  ["openapi", {}, "needs options.openapi with a base_url, or options.jina with a mode: add one"],
  ["openapi", { jina: {} }, "needs options.openapi with a base_url, or options.jina with a mode: add one"],
  ["openapi", { openapi: {} }, "needs options.openapi with a base_url, or options.jina with a mode: add one"],
  ["openapi", { jina: {}, openapi: { base_url: "https://a.example" } }, "options.jina is empty"],
  ["openapi", { jina: { mode: "reader" }, openapi: {} }, "options.openapi is empty"],
  ["web", { jina: { mode: "reader" } }, "options.jina works only for tools of the target openapi: set target_subject"],
  ["web", { openapi: { base_url: "https://a.example" } }, "options.openapi works only for tools of the target openapi"],
  ["web", { jina: {} }, "options.jina works only for tools of the target openapi"],
  [
    "web",
    { timeout_s: 5 },
    "options.timeout_s works only for tools of the target openapi: use options.timeout_seconds",
  ],
])("[API-3-J2] on target %s %j is refused, and the sentence says what to do", async (target, options, said) => {
  await expect(register(options, target)).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining(said),
    detail: { path: expect.stringMatching(/^\$\.options/u) },
  });
});

test("[API-3-J2] what an earlier version of the plane took stays: readable, callable, and the same again changes nothing", async () => {
  const { engine, projectId } = world;
  const uploads = [
    define("old_empty", { jina: {} }),
    define("old_elsewhere", { jina: { mode: "reader" } }, "web"),
    define("old_value", { args: { fixed: { n: "many" } } }, "web", {
      type: "object",
      properties: { n: { type: "integer" } },
    }),
  ];
  // As that version did it: without the rules of today.
  for (const upload of uploads) await engine.tools.upsertTool(projectId, upload, { isStored: true });
  const again = await engine.tools.upsertTools(projectId, uploads);
  expect(again).toMatchObject(uploads.map(() => ({ outcome: "unchanged" })));
  expect(await engine.tools.getTool(projectId, "old_elsewhere")).toMatchObject({ status: "active" });
  await engine.tools.setLimits(projectId, "old_elsewhere", { concurrency: 2 });
  expect((await world.call("old_empty", { q: "x" })).error).toMatchObject({
    code: "bad_request",
    message: expect.stringMatching(/^the definition of old_empty cannot be run: .*options\.jina/u),
  });
  const dispatch = (toolName: string) => engine.calls.dispatch({ projectId, toolName, arguments: {} });
  await expect(dispatch("old_value")).rejects.toThrow("options.args.fixed.n of the definition");
  expect((await dispatch("old_elsewhere")).status).toBe("queued");
  await expect(engine.tools.upsertTool(projectId, { ...uploads[2], description: "other" })).rejects.toMatchObject({
    code: "bad_request",
  });
});
