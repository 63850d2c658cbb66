// Two tenants on one plane: the operator of one tries to get the key of the other, through a profile of its own and a
// real turn. The endpoints are real servers on loopback; one of them is allowed by the operator of the plane.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, askApi, type ModelServer, startModelServer } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { makeUsedPlace, type Place } from "../up/data.ts";
import { startUp, type UpProcess } from "../up/up-process.ts";

// A whole stack, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const KEY = "sk-alpha-0123456789-canary";

let place: Place;
let up: UpProcess;
/** Allowed by the operator of the plane. */
let model: ModelServer;
/** Not allowed. */
let thief: ModelServer;
const tokens = new Map<string, string>();

const asOperator = async (project: string, path: string, body: unknown): Promise<Answer> =>
  askApi(
    { url: await up.ready(), token: tokens.get(project) ?? "" },
    { method: "POST", path: `/projects/${project}${path}`, body },
  );

beforeAll(async () => {
  place = await makeUsedPlace();
  model = await startModelServer([{ text: "Six." }]);
  thief = await startModelServer([{ text: "Thanks." }]);
  writeFileSync(
    join(place.root, "toolplane.yaml"),
    `project: alpha
egress: { allow: ["${model.origin}"] }
secrets:
  allow_env:
    - MODEL_KEY_A
    - { name: MODEL_KEY_B, projects: [beta], hosts: [models.example.com] }
`,
  );
  up = startUp({
    dataDir: place.dataDir,
    cwd: place.root,
    args: [],
    env: { MODEL_KEY_A: KEY, MODEL_KEY_B: "sk-beta-0123456789" },
  });
  await up.request("POST", "/projects", { project_id: "beta", title: "beta" });
  for (const project of ["alpha", "beta"]) {
    const made = await up.request("POST", "/tokens", { role: "operator", project_id: project });
    tokens.set(project, made.body.token);
  }
});
afterAll(async () => {
  await up[Symbol.asyncDispose]();
  await model.close();
  await thief.close();
  await place[Symbol.asyncDispose]();
});

/** What one does to think with a model: a profile, an agent, a turn. The last answer says how it ended. */
const think = async (project: string, name: string, llmConfig: object): Promise<Answer> => {
  const profile = await asOperator(project, "/profiles", {
    name,
    worker_target: "worker_generic",
    llm_config: { model: "m", stream: false, ...llmConfig },
  });
  if (profile.status >= 400) return profile;
  await asOperator(project, "/agents", { agent_id: name, profile_name: name });
  return asOperator(project, `/agents/${name}/turns`, { instruction: "go", wait_seconds: 50 });
};

const seenKeys = (): readonly string[] =>
  [...model.requests, ...thief.requests].map(({ headers }) => String(headers.authorization));

describe("a variable belongs to a project and a destination", () => {
  test("[SEC-7-G1] the project of the file uses its key at an address that the plane allows", async () => {
    const turn = await think("alpha", "own", { api_base: model.url, api_key: "env:MODEL_KEY_A" });
    expect(turn.body).toMatchObject({ status: "success", deliverable: "Six." });
    expect(seenKeys()).toEqual([`Bearer ${KEY}`]);
  });

  test("[SEC-7-G1] another project gets neither the key nor a request with it", async () => {
    const before = model.requests.length;
    const turn = await think("beta", "greedy", { api_base: model.url, api_key: "env:MODEL_KEY_A" });
    expect(model.requests.slice(before)).toEqual([]);
    expect(turn.body).toMatchObject({
      status: "failed",
      error: {
        code: "auth_failed",
        message: expect.stringMatching(/variable MODEL_KEY_A .* project beta: .*secrets\.allow_env/),
      },
    });
  });

  test("[SEC-7-G2] a variable for one host is not sent to another, not even to one that the plane allows", async () => {
    const before = model.requests.length;
    const turn = await think("beta", "astray", { api_base: model.url, api_key: "env:MODEL_KEY_B" });
    expect(model.requests.slice(before)).toEqual([]);
    expect(turn.body).toMatchObject({
      status: "failed",
      error: { code: "auth_failed", message: expect.stringMatching(/MODEL_KEY_B .*127\.0\.0\.1/) },
    });
  });

  test("[SEC-7-G1] the variable cannot be named by a tool of another project either", async () => {
    const tool = (name: string) => ({
      tool_name: name,
      description: "takes a key",
      target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.own.${name}`,
      after_execution: "suspend",
      parameters: { type: "object", properties: { key: { type: "string" } } },
      options: { envs: { key: "MODEL_KEY_A" } },
    });
    expect((await asOperator("alpha", "/tools", tool("mine"))).status).toBe(201);
    expect(await asOperator("beta", "/tools", tool("theirs"))).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/MODEL_KEY_A .*project beta .*secrets\.allow_env/) } },
    });
  });
});

describe("a local address is asked only when the operator of the plane allows it", () => {
  test.each(["127.0.0.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "localhost", "127.1", "017700000001"])(
    "[SEC-6-3] %s is refused when the profile is registered, with the line to add",
    async (host) => {
      const { port } = new URL(thief.url);
      const answer = await think("beta", "spelling", { api_base: `http://${host}:${port}/v1` });
      expect(thief.requests).toEqual([]);
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { code: "bad_request", message: expect.stringMatching(/llm_config\.api_base.*egress\.allow/) } },
      });
    },
  );

  test("[SEC-7-G1] no log and no answer of the plane has a key in it", () => {
    expect(up.stderr() + up.stdout()).not.toContain(KEY);
  });
});
