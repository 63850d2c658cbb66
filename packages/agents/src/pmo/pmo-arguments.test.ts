import { isToolplaneError, type JsonObject } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { parseDelegate, parseExpert, parseForkJoin, parseLaunch } from "./pmo-arguments.ts";

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (isToolplaneError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
};

const TASK: JsonObject = { target_strategy: "new", target_ref: "worker", instruction: "count" };

describe("delegate_async", () => {
  test.each(["new", "reuse", "clone"])("[UTP-11.2-1] takes strategy %s", (strategy) => {
    expect(parseDelegate({ ...TASK, target_strategy: strategy, context_box_id: " b1 " })).toEqual({
      strategy,
      ref: "worker",
      instruction: "count",
      contextBoxId: "b1",
    });
  });

  test.each<[string, JsonObject, string]>([
    [
      "an unknown strategy",
      { ...TASK, target_strategy: "steal" },
      "args.target_strategy: must be one of new, reuse, clone",
    ],
    ["no strategy", { target_ref: "w", instruction: "x" }, "args.target_strategy"],
    ["no ref", { ...TASK, target_ref: " " }, "args.target_ref: must be a non-empty string"],
    ["a ref longer than a name", { ...TASK, target_ref: "w".repeat(256) }, "args.target_ref: must have at most 255"],
    ["a box longer than an id", { ...TASK, context_box_id: "b".repeat(256) }, "args.context_box_id: must have at most"],
    ["no instruction", { ...TASK, instruction: null }, "args.instruction: must be a non-empty string"],
    ["a box that is not text", { ...TASK, context_box_id: 7 }, "args.context_box_id: must be a non-empty string"],
  ])("[UTP-11.2-1] %s is bad_request", (_name, args, message) => {
    expect(messageOf(() => parseDelegate(args))).toContain(`bad_request: delegate_async: invalid ${message}`);
  });
});

describe("launch_principal and ask_expert", () => {
  test("[UTP-11.4-1] launch_principal is a new agent of the profile", () => {
    expect(parseLaunch({ profile_name: "Boss", instruction: "lead" })).toEqual({
      strategy: "new",
      ref: "Boss",
      instruction: "lead",
    });
    expect(messageOf(() => parseLaunch({ instruction: "lead" }))).toContain(
      "launch_principal: invalid args.profile_name",
    );
  });

  test("[UTP-11.4-2] ask_expert is a new agent with the question, with history only when asked for", () => {
    const args = { expert_profile: "Chef", question: "salt?" };
    expect(parseExpert(args)).toEqual({
      task: { strategy: "new", ref: "Chef", instruction: "salt?" },
      includeHistory: false,
    });
    expect(parseExpert({ ...args, include_history: true }).includeHistory).toBe(true);
    expect(messageOf(() => parseExpert({ ...args, include_history: "maybe" }))).toContain("args.include_history");
    expect(messageOf(() => parseExpert({ ...args, question: "" }))).toContain("args.question");
  });
});

describe("fork_join", () => {
  const parse = (args: JsonObject, maxTasks = 8) => parseForkJoin(args, maxTasks);
  const reuse = { ...TASK, target_strategy: "reuse", target_ref: "w1" };

  test("[UTP-11.6-1] tasks, haste and deadline", () => {
    expect(parse({ tasks: [TASK, reuse], fail_fast: "yes", deadline_seconds: 1.5 })).toMatchObject({
      tasks: [{ strategy: "new" }, { strategy: "reuse", ref: "w1" }],
      failFast: true,
      deadlineSeconds: 1.5,
    });
    expect(parse({ tasks: [TASK] })).toMatchObject({ failFast: false, deadlineSeconds: undefined });
  });

  test.each<[string, JsonObject, string]>([
    ["no tasks", {}, "args.tasks: must be a list of at least one task"],
    ["an empty list", { tasks: [] }, "args.tasks: must be a list of at least one task"],
    ["too many", { tasks: Array.from({ length: 9 }, () => TASK) }, "args.tasks: has 9 tasks, the limit is 8"],
    ["an unknown key", { tasks: [TASK], speed: 1 }, "args.speed: is not known"],
    ["a key as long as a book", { tasks: [TASK], ["k".repeat(999)]: 1 }, `args.${"k".repeat(255)}: is not known`],
    ["an unknown key in a task", { tasks: [{ ...TASK, label: "x" }] }, "args.tasks[0].label: is not known"],
    ["a task that is not an object", { tasks: ["x"] }, "args.tasks[0]: must be an object"],
    ["a task without a ref", { tasks: [TASK, { ...TASK, target_ref: "" }] }, "args.tasks[1].target_ref"],
    [
      "an agent that is reused twice",
      { tasks: [reuse, TASK, reuse] },
      "args.tasks[2].target_ref: agent w1 is already used",
    ],
    ["haste that is not a flag", { tasks: [TASK], fail_fast: "quickly" }, "args.fail_fast: must be true or false"],
    ["a deadline of nothing", { tasks: [TASK], deadline_seconds: 0 }, "args.deadline_seconds: must be a number"],
    ["a deadline that is not a number", { tasks: [TASK], deadline_seconds: "soon" }, "args.deadline_seconds"],
  ])("[UTP-11.6-1] %s is bad_request", (_name, args, message) => {
    expect(messageOf(() => parse(args))).toContain(`bad_request: fork_join: invalid ${message}`);
  });

  test("[UTP-11.6-1] a profile may be named by any number of tasks, and the limit is the project's", () => {
    expect(parse({ tasks: Array.from({ length: 200 }, () => TASK) }, 1_000).tasks).toHaveLength(200);
  });
});
