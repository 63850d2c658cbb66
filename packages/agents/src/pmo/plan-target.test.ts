import { isToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import {
  BOSS,
  BOSS_PROFILE,
  type PartiesChange,
  PROJECT,
  partiesOf,
  partyOf,
  profileOf,
  WORKER_BOX,
  WORKER_PROFILE,
} from "../../test/pmo-parties.ts";
import { askedOf, boxesOf, planTarget } from "./plan-target.ts";
import type { TaskAsk } from "./pmo-arguments.ts";

const NEW: TaskAsk = { strategy: "new", ref: "worker", instruction: "count" };
const REUSE: TaskAsk = { strategy: "reuse", ref: "w1", instruction: "count" };
const CLONE: TaskAsk = { strategy: "clone", ref: "w1", instruction: "count" };
const w1 = partyOf("w1", WORKER_PROFILE, WORKER_BOX, { boxes: { output: "w1_out" } });

const plan = (task: TaskAsk, change: PartiesChange = {}) =>
  planTarget({
    task,
    projectId: PROJECT,
    callerId: BOSS,
    parties: partiesOf({ agents: [w1], boxes: ["ctx", "out", "w1_out", "w1_last", "other"], ...change }),
    newAgentId: (boxId) => `${boxId}_new`,
    metadata: { task_label: "task_0" },
  });

const refusal = (task: TaskAsk, change: PartiesChange = {}): string => {
  try {
    plan(task, change);
  } catch (error) {
    if (isToolplaneError(error)) return error.code;
    throw error;
  }
  return "accepted";
};

describe("new", () => {
  test("[UTP-11.2-2] an agent of the named profile, owned by the caller, with the profile's pool and tags", () => {
    expect(plan(NEW)).toEqual({
      agentId: `${WORKER_BOX}_new`,
      profileBoxId: WORKER_BOX,
      inheritBoxIds: [],
      create: {
        project_id: PROJECT,
        agent_id: `${WORKER_BOX}_new`,
        profile_box_id: WORKER_BOX,
        worker_target: "pool_Worker",
        tags: ["tag_Worker"],
        display_name: expect.stringMatching(/^.{1,40}-.{1,4}$/),
        owner_agent_id: BOSS,
        metadata: { profile_name: "Worker", spawned_by: BOSS, task_label: "task_0" },
      },
    });
  });

  test("[UTP-11.2-2] an unknown profile is not_found", () => {
    expect(refusal({ ...NEW, ref: "nobody" })).toBe("not_found");
  });
});

describe("reuse", () => {
  test("[UTP-11.2-3] the agent itself; nothing is made", () => {
    expect(plan(REUSE)).toEqual({ agentId: "w1", profileBoxId: WORKER_BOX, inheritBoxIds: [] });
  });

  test.each<[string, TaskAsk, PartiesChange, string]>([
    ["an unknown agent", { ...REUSE, ref: "nobody" }, {}, "not_found"],
    ["an agent without a profile", REUSE, { agents: [{ ...w1, profile: undefined }] }, "not_found"],
    [
      "an agent that was deactivated",
      REUSE,
      { agents: [{ ...w1, agent: { ...w1.agent, status: "inactive" } }] },
      "auth_failed",
    ],
    [
      "an agent of a profile that is not allowed",
      REUSE,
      { agents: [{ ...w1, profile: profileOf("Chef") }] },
      "auth_failed",
    ],
  ])("[UTP-11.2-3] [UTP-11.2-5] %s is refused", (_name, task, change, code) => {
    expect(refusal(task, change)).toBe(code);
  });
});

describe("clone", () => {
  test("[UTP-11.2-4] an agent derived from the source, owned by it, that inherits its output", () => {
    expect(plan(CLONE)).toMatchObject({
      agentId: `${WORKER_BOX}_new`,
      inheritBoxIds: ["w1_out"],
      create: {
        owner_agent_id: "w1",
        worker_target: "pool_Worker",
        metadata: { derived_from: "w1", spawned_by: BOSS, profile_name: "Worker" },
      },
    });
  });

  test("[UTP-11.2-4] the last output when there is no current one; without either bad_request", () => {
    const idle = { ...w1, boxes: { ...w1.boxes, output: null, lastOutput: "w1_last" } };
    expect(plan(CLONE, { agents: [idle] }).inheritBoxIds).toEqual(["w1_last"]);
    const fresh = { ...w1, boxes: { ...w1.boxes, output: null } };
    expect(refusal(CLONE, { agents: [fresh] })).toBe("bad_request");
  });

  test("an output that was forgotten is not_found", () => {
    expect(refusal(CLONE, { boxes: ["ctx", "out"] })).toBe("not_found");
  });
});

describe("the guard", () => {
  test.each<[string, PartiesChange, string]>([
    ["a caller who is not in the roster", { boss: null }, "not_found"],
    ["a caller without a profile", { boss: { profile: undefined } }, "bad_request"],
    ["a caller whose profile has no policy", { boss: { profile: profileOf("Boss") } }, "auth_failed"],
    [
      "a policy that does not name the profile",
      { boss: { profile: profileOf("Boss", { delegation_policy: { target_profiles: ["Chef"] } }) } },
      "auth_failed",
    ],
    [
      "a policy whose tags do not meet",
      { boss: { profile: profileOf("Boss", { delegation_policy: { target_tags: ["kitchen"] } }) } },
      "auth_failed",
    ],
    ["a caller who was deactivated", { boss: { agent: { status: "inactive" } } }, "auth_failed"],
  ])("[UTP-11.2-5] %s is refused", (_name, change, code) => {
    for (const task of [NEW, REUSE, CLONE]) expect(refusal(task, change)).toBe(code);
  });
});

describe("boxes", () => {
  test.each(["ctx", "out"])("[UTP-11.2-6] the caller's own box %s may be passed on", (contextBoxId) => {
    expect(plan({ ...NEW, contextBoxId }).inheritBoxIds).toEqual([contextBoxId]);
  });

  test("[UTP-11.2-6] a clone inherits the named box before its source's output, each once", () => {
    expect(plan({ ...CLONE, contextBoxId: "ctx" }).inheritBoxIds).toEqual(["ctx", "w1_out"]);
    expect(plan({ ...CLONE, contextBoxId: "w1_out" }).inheritBoxIds).toEqual(["w1_out"]);
  });

  test.each<[string, TaskAsk, PartiesChange, string]>([
    ["another agent's box", { ...NEW, contextBoxId: "other" }, {}, "bad_request"],
    ["the output of an agent it only reuses", { ...REUSE, contextBoxId: "w1_out" }, {}, "bad_request"],
    ["its own box that is gone", { ...NEW, contextBoxId: "ctx" }, { boxes: [] }, "not_found"],
    [
      "any box when it has none itself",
      { ...NEW, contextBoxId: "other" },
      { boss: { boxes: { profile: null, context: null, output: null } } },
      "bad_request",
    ],
  ])("[UTP-11.2-6] [UTP-W18-R1] %s is refused", (_name, task, change, code) => {
    expect(refusal(task, change)).toBe(code);
  });
});

test("what is looked up is what the tasks name", () => {
  expect(askedOf(BOSS, [NEW, REUSE, CLONE])).toEqual({ agentIds: [BOSS, "w1", "w1"], profileNames: ["worker"] });
  const parties = partiesOf({ agents: [w1, partyOf(BOSS, BOSS_PROFILE, "b")] });
  expect(boxesOf([{ ...NEW, contextBoxId: "ctx" }, REUSE, CLONE], parties)).toEqual(["ctx", "w1_out"]);
});
