// Tools that are HTTP operations, from the call to the wire and back: one engine, one service, one API for all tests.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ApiServer, type ApiWorld, answerJson, openApiWorld, startApiServer } from "./api-world.ts";

const PROJECT = "demo";
const TOKEN = "tok-0123456789-canary";

let api: ApiServer;
let world: ApiWorld;

beforeAll(async () => {
  api = await startApiServer();
  world = await openApiWorld({
    allow: [api.origin],
    grants: [{ name: "API_TOKEN", projects: [PROJECT], hosts: "any" }],
    env: { API_TOKEN: TOKEN },
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
beforeEach(() => {
  api.asked.length = 0;
  api.answer = answerJson({ ok: true });
});

describe("the definition that a call was made with", () => {
  test("[HTTP-1-1] a tool that was changed or deleted meanwhile runs as the call was made with", async () => {
    await world.register("pinned", { base_url: `${api.origin}/v1`, path: "/{id}" });
    const first = await world.dispatch("pinned", { id: "a" });
    await world.register("pinned", { base_url: `${api.origin}/v2`, path: "/{id}", method: "put" });
    const second = await world.dispatch("pinned", { id: "b" });
    await world.engine.tools.deleteTool(world.projectId, "pinned");
    world.serve();
    const results = [await world.settled(first), await world.settled(second)];
    expect(results.map(({ status }) => status)).toEqual(["success", "success"]);
    expect(api.asked.map(({ method, url }) => `${method} ${url}`).sort()).toEqual(["GET /v1/a", "PUT /v2/b"]);
    const read = await world.engine.calls.get({ projectId: world.projectId, toolCallId: first });
    const [card] = await world.engine.cards.getCards(world.projectId, [read.resultCardId ?? ""]);
    const [asked] = await world.engine.cards.getCards(world.projectId, [read.callCardId]);
    expect(card?.metadata.definition_hash).toBe(asked?.metadata.definition_hash);
    expect(asked?.metadata.definition_hash).toEqual(expect.any(String));
  });
});

describe("the credential", () => {
  test("[HTTP-1-2] its value is read where the tool runs, sent to the API, and removed from what the API says", async () => {
    api.answer = ({ headers }, response) => answerJson({ echo: headers.authorization })({} as never, response);
    await world.register("bearer", { base_url: api.origin, path: "/me", auth: { scheme: "bearer", env: "API_TOKEN" } });
    const { status, result } = await world.call("bearer");
    expect([status, api.asked[0]?.headers.authorization]).toEqual(["success", `Bearer ${TOKEN}`]);
    expect(JSON.stringify(result)).not.toContain(TOKEN);
  });

  test("[SEC-7-2] a variable that is missing, or not given to the project, is auth_failed before anything is sent", async () => {
    await world.register("unset", { base_url: api.origin, path: "/me", auth_env: "OTHER_TOKEN" });
    const { status, error } = await world.call("unset");
    expect([status, error?.code]).toEqual(["failed", "auth_failed"]);
    expect(error?.message).toContain("OTHER_TOKEN");
    expect(api.asked).toEqual([]);
  });
});

test("[SEC-13-1] an address that the operator did not allow is refused at the call", async () => {
  await using other = await startApiServer();
  await world.register("elsewhere", { base_url: other.origin, path: "/" });
  const { error } = await world.call("elsewhere");
  expect(error?.code).toBe("auth_failed");
  expect(other.asked).toEqual([]);
});
