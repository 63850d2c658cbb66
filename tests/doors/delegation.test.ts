// Section 11 of the protocol with nothing but requests: an agent asks the project manager's tools by direct calls.
// Doors: HTTP

import type { JsonObject } from "@toolplane/protocol";
import { fingerprint } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requestOver, tokenOf } from "../pmo/pmo-http.ts";
import { BOSS, type PmoWorld, startPmoWorld, WORKER } from "../pmo/pmo-world.ts";

let world: PmoWorld;
let boss: string;
beforeAll(async () => {
  world = await startPmoWorld();
  boss = await tokenOf(world, BOSS);
  await world.engine.agents.upsertAgent("factory", { agent_id: "w1", profile_name: "Worker" });
});
afterAll(() => world[Symbol.asyncDispose]());

interface Said {
  /** The code of a call that was not made. */
  readonly refused?: string | undefined;
  /** The code of a failed result. */
  readonly failed?: unknown;
  readonly result: JsonObject;
  readonly author?: string | undefined;
  /** The sentence about a refusal or a failure. */
  readonly message?: unknown;
}

const say = async (tool_name: string, args: unknown, token = boss): Promise<Said> => {
  const { body } = await requestOver(world, token, "POST", "/calls", { tool_name, arguments: args });
  if (body.error !== undefined) return { refused: body.error.code, message: body.error.message, result: {} };
  await world.serve();
  const { error, result, author } = await world.resultOf(String(body.tool_call_id));
  return { ...(error === null ? {} : { failed: error.code, message: error.message }), result, author };
};

/** The code, wherever it stands; a result of business is told in its data. */
const codeOf = ({ refused, failed, result }: Said): unknown => refused ?? failed ?? result.error_code;

describe("delegate_async", () => {
  test.each<[string, JsonObject, unknown]>([
    ["[UTP-11.2-1] an unknown strategy", { ...WORKER, target_strategy: "steal" }, "bad_request"],
    ["[UTP-11.2-1] no target_ref", { target_strategy: "new", instruction: "go" }, "bad_request"],
    ["[UTP-11.3-1] no instruction", { target_strategy: "new", target_ref: "Worker" }, "bad_request"],
    ["[UTP-11.2-2] a profile nobody knows", { ...WORKER, target_ref: "Ghost" }, "not_found"],
    ["[UTP-11.2-3] an agent nobody knows", { ...WORKER, target_strategy: "reuse", target_ref: "ghost" }, "not_found"],
    [
      "[UTP-11.2-4] a clone of an agent without output",
      { ...WORKER, target_strategy: "clone", target_ref: "w1" },
      "bad_request",
    ],
    ["[UTP-11.2-5] a profile the policy does not name", { ...WORKER, target_ref: "Chef" }, "auth_failed"],
    [
      "[UTP-11.2-6] a box that is not the caller's",
      { ...WORKER, context_box_id: "018f0000-0000-7000-8000-000000000000" },
      "bad_request",
    ],
  ])("%s makes no agent and no turn", async (_name, args, code) => {
    const agents = async () => (await requestOver(world, boss, "GET", "/agents")).body.items?.length;
    const before = await agents();
    expect(codeOf(await say("delegate_async", args))).toBe(code);
    expect(await agents()).toBe(before);
  });

  test("[UTP-11.2-5] a caller without a policy is auth_failed", async () => {
    expect(codeOf(await say("delegate_async", WORKER, await tokenOf(world, "w1")))).toBe("auth_failed");
  });

  test("[UTP-11.1-6] [UTP-11.3-2] the answer is by sys.pmo, and names the child", async () => {
    const { author, result } = await say("delegate_async", WORKER);
    expect(author).toBe("sys.pmo");
    expect(result).toMatchObject({
      status: "accepted",
      agent_id: expect.stringMatching(/./),
      agent_turn_id: expect.stringMatching(/./),
      context_box_id: expect.stringMatching(/./),
      output_box_id: expect.stringMatching(/./),
    });
    expect(result).toHaveProperty("turn_epoch");
  });
});

describe("the command", () => {
  test.each([
    ["args", { args: {} }],
    ["a call id", { tool_call_id: "call_1" }],
    ["an epoch", { turn_epoch: 1 }],
    ["a depth", { recursion_depth: 0 }],
    ["an after_execution", { after_execution: "terminate" }],
  ])(
    "[UTP-11.1-1] [UTP-11.1-3] has nothing a caller says beside the arguments: %s is refused",
    async (_name, extra) => {
      const before = await fingerprint(world.test);
      const asked = { tool_name: "delegate_async", arguments: WORKER, ...extra };
      expect((await requestOver(world, boss, "POST", "/calls", asked)).body.error?.code).toBe("bad_request");
      expect(await fingerprint(world.test)).toBe(before);
    },
  );

  test.each(["tool", "admin"] as const)(
    "[UTP-11.1-R3] is not handed to a service, whatever targets its token names: %s",
    async (role) => {
      const targets = role === "tool" ? { projectId: "factory", targets: ["pmo"] } : {};
      const { secret } = await world.engine.tokens.create({ role, ...targets });
      const made = await requestOver(world, boss, "POST", "/calls", { tool_name: "delegate_async", arguments: WORKER });
      const path = `/calls/${made.body.tool_call_id}`;
      for (const verb of ["claim", "exchange"]) {
        const { body } = await requestOver(world, secret, "POST", `/tool-services/pmo/${verb}`, { wait_seconds: 0 });
        expect(body.error?.code).toBe("auth_failed");
      }
      const result = { lease: "none", status: "success", result: {} };
      expect((await requestOver(world, secret, "POST", `${path}/result`, result)).status).toBeGreaterThanOrEqual(400);
      await world.serve();
      expect((await world.resultOf(String(made.body.tool_call_id))).author).toBe("sys.pmo");
    },
  );
});

describe("the other tools", () => {
  test("[UTP-11.4-1] launch_principal starts a new agent of the profile", async () => {
    const { result } = await say("launch_principal", { profile_name: "Worker", instruction: "go" });
    expect(result).toMatchObject({ status: "accepted" });
    expect(codeOf(await say("launch_principal", { profile_name: "Ghost", instruction: "go" }))).toBe("not_found");
  });

  test("[UTP-11.4-2] ask_expert passes a history only where there is one", async () => {
    const asked = { expert_profile: "Worker", question: "why?" };
    expect((await say("ask_expert", asked)).result).toMatchObject({ status: "accepted" });
    expect(codeOf(await say("ask_expert", { ...asked, include_history: true }))).toBe("bad_request");
  });

  test.each<[JsonObject, string]>([
    [{ action: "destroy", agent_id: "w2", profile_name: "Worker" }, "invalid_action"],
    [{ agent_id: "w2", profile_name: "Worker" }, "invalid_action"],
    [{ action: "ensure", profile_name: "Worker" }, "missing_agent_id"],
    [{ action: "ensure", agent_id: 7, profile_name: "Worker" }, "missing_agent_id"],
    [{ action: "ensure", agent_id: "w2", profile_name: "Worker", tags: "a" }, "invalid_tags"],
    [{ action: "ensure", agent_id: "w2", profile_name: "Worker", tags: [1] }, "invalid_tags"],
    [{ action: "ensure", agent_id: "w2", profile_name: "Worker", metadata: [] }, "invalid_metadata"],
    // What the clause has no code for is refused by the schema, before there is a call.
    [{ action: "ensure", agent_id: "w2", profile_name: "Worker", surprise: 1 }, "bad_request"],
    [{ action: "ensure", agent_id: "w2", profile_name: 7 }, "bad_request"],
    [{ action: "derive", agent_id: "w2" }, "missing_derived_from"],
    [{ action: "ensure", agent_id: "w1", profile_name: "Boss" }, "existing_agent_profile_mutation_forbidden"],
    [{ action: "ensure", agent_id: "w1", worker_target: "moon" }, "existing_agent_worker_target_mutation_forbidden"],
    [{ action: "ensure", agent_id: "w1", tags: ["x"] }, "existing_agent_tags_mutation_forbidden"],
    [{ action: "ensure", agent_id: "w2", profile_name: "Ghost" }, "profile_not_found"],
    [{ action: "ensure", agent_id: "w2", profile_name: "Chef" }, "auth_failed"],
  ])("[UTP-11.5-1] [UTP-11.5-2] [UTP-11.5-3] provision_agent %j is %s", async (args, code) => {
    expect(codeOf(await say("provision_agent", args))).toBe(code);
    expect((await requestOver(world, boss, "GET", "/agents/w2")).status).toBe(404);
  });

  test.each([["yes"], ["off"], [1], [null]])("[UTP-11.6-1] fork_join takes %j as fail_fast", async (fail_fast) => {
    const asked = { tool_name: "fork_join", arguments: { tasks: [WORKER], fail_fast } };
    const { status, body } = await requestOver(world, boss, "POST", "/calls", asked);
    expect(status).toBe(202);
    await world.serve();
    const { items } = (await requestOver(world, boss, "GET", `/turns?parent_agent_turn_id=${body.agent_turn_id}`)).body;
    expect(items).toHaveLength(1);
  });

  test("[UTP-11.6-1] fork_join refuses a fail_fast that cannot be read, in the words of the clause", async () => {
    const { body } = await requestOver(world, boss, "POST", "/calls", {
      tool_name: "fork_join",
      arguments: { tasks: [WORKER], fail_fast: "perhaps" },
    });
    await world.serve();
    const { error } = await world.resultOf(String(body.tool_call_id));
    expect(error).toMatchObject({
      code: "bad_request",
      message: "fork_join: invalid args.fail_fast: must be true or false",
    });
  });

  test.each<[string, JsonObject, string]>([
    ["no list of tasks", {}, "tasks: is missing"],
    ["no tasks", { tasks: [] }, "tasks: must have at least 1 item"],
    ["too many tasks", { tasks: Array(9).fill(WORKER) }, "tasks: must have at most 8 items"],
    ["an unknown key", { tasks: [WORKER], surprise: 1 }, "surprise: is not a known member"],
    ["an unknown key of a task", { tasks: [{ ...WORKER, surprise: 1 }] }, "tasks[0].surprise: is not a known member"],
    ["a task that is a text", { tasks: ["go"] }, "tasks[0]: must be an object"],
    ["no deadline at all", { tasks: [WORKER], deadline_seconds: 0 }, "deadline_seconds: must be greater than 0"],
    [
      "one agent twice",
      { tasks: [1, 2].map(() => ({ ...WORKER, target_strategy: "reuse", target_ref: "w1" })) },
      "tasks[1].target_ref: agent w1 is already used by another task",
    ],
    [
      "one bad task among good ones",
      { tasks: [WORKER, { ...WORKER, target_strategy: "steal" }] },
      'tasks[1].target_strategy: must be one of "new", "reuse", "clone"',
    ],
  ])(
    "[UTP-11.6-1] fork_join with %s is bad_request in the words of the clause, and makes no child",
    async (_name, args, words) => {
      const turns = async () => (await requestOver(world, boss, "GET", "/turns?limit=500")).body.items?.length;
      const before = await turns();
      const said = await say("fork_join", args);
      expect([codeOf(said), said.message]).toEqual(["bad_request", `fork_join: invalid args.${words}`]);
      expect(await turns()).toBe(before);
    },
  );
});
