// Steps of turns, on an engine in memory: what the worker shows, what it carries out, and how every turn ends.

import { type Brain, type BrainAnswer, createWorker, type Worker, type WorkerOptions } from "@toolplane/agents";
import { silentLog } from "@toolplane/engine";
import { type Card, ToolplaneError } from "@toolplane/protocol";
import { createResultFieldsCard } from "@toolplane/protocol/agents";
import { eventually } from "@toolplane/testkit";
import { afterEach, describe, expect, test } from "vitest";
import {
  brainOf,
  createFakePlane,
  type FakePlane,
  type FakeTurn,
  PROJECT,
  type SpawnOptions,
} from "./support/fake-plane.ts";

const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop({ drainMs: 0 })));
});

const start = async (plane: FakePlane, brain: Brain, options: Partial<WorkerOptions> = {}): Promise<Worker> => {
  const worker = createWorker({ engine: plane.engine, brains: async () => brain, workerTargets: ["pool"], ...options });
  workers.push(worker);
  await worker.start();
  return worker;
};

const say = (text: string): BrainAnswer => ({ text, toolCalls: [] });
const call = (...names: string[]): BrainAnswer => ({
  text: "",
  toolCalls: names.map((name, index) => ({ id: `call_${index}`, name, arguments: {} })),
});
const submit = (result: unknown): BrainAnswer => ({
  text: "",
  toolCalls: [{ name: "submit_result", arguments: { result } }],
});

/** Answers by step number; the last one repeats. */
const scripted = (...answers: (BrainAnswer | Error)[]) =>
  brainOf(async ({ stepNumber }) => {
    const answer = answers[Math.min(stepNumber, answers.length) - 1];
    if (answer === undefined || answer instanceof Error) throw answer;
    return answer;
  });

const ended = (turn: FakeTurn) => eventually(() => turn.status === "ended");

const run = async (
  options: SpawnOptions,
  answers: readonly (BrainAnswer | Error)[],
  more: Partial<WorkerOptions> = {},
) => {
  const plane = createFakePlane();
  const { brain, asked } = scripted(...answers);
  const worker = await start(plane, brain, more);
  const turn = plane.spawn("a", options);
  return { plane, turn, asked, worker };
};

const types = (cards: readonly Card[]): string[] => cards.map(({ type }) => type);
const resultsOf = (cards: readonly Card[]): string[] =>
  cards.flatMap(({ content, metadata }) =>
    content.__type__ === "ToolResultContent"
      ? [
          `${metadata.function_name} ${content.status} ${(content.error as { code?: string } | null)?.code ?? ""}`.trim(),
        ]
      : [],
  );

describe("a turn", () => {
  test("[UTP-10.5-1] ends with the assistant's text when it calls nothing", async () => {
    const { turn, asked, plane } = await run({ instruction: "say it" }, [say("said")]);
    await ended(turn);
    expect(turn.end).toMatchObject({ status: "success", deliverable: "said", stepId: expect.stringMatching(/_1$/) });
    expect(asked[0]?.messages).toEqual([{ role: "user", content: "say it" }]);
    expect(types(plane.outputOf(turn))).toEqual(["agent.thought"]);
  });

  test("[UTP-10.2-8] the prompt and the tools a brain was given are saved with its step, once while they do not change", async () => {
    const profile = { system_prompt_template: 'You are {display_name}; {"json": true} {unknown}' };
    const { turn, plane } = await run({ profile }, [call("echo"), say("done")]);
    await eventually(() => plane.dispatched.length === 1);
    plane.settle(plane.dispatched[0]?.toolCallId ?? "", "pong");
    await ended(turn);
    const hidden = [...turn.commits.flatMap(({ entries }) => entries), ...(turn.end?.entries ?? [])].flatMap((entry) =>
      "card" in entry && entry.show === false ? [entry.card] : [],
    );
    expect(types(hidden)).toEqual(["sys.rendered_prompt", "sys.tools"]);
    expect(hidden[0]?.content).toMatchObject({ text: 'You are a; {"json": true} {unknown}' });
    const thoughts = plane.outputOf(turn).filter(({ type }) => type === "agent.thought");
    expect(thoughts.map(({ metadata }) => metadata.prompt_card_id)).toEqual([hidden[0]?.card_id, hidden[0]?.card_id]);
  });

  test("a call suspends it and its result is shown to the next step", async () => {
    const { turn, asked, plane, worker } = await run({}, [call("echo", "echo"), say("done")]);
    await eventually(() => plane.dispatched.length === 2);
    plane.settle(plane.dispatched[1]?.toolCallId ?? "", "second");
    plane.settle(plane.dispatched[0]?.toolCallId ?? "", "first");
    await ended(turn);
    const shown = asked[1]?.messages.map(
      ({ role, content }) => `${role}: ${content.includes("first") ? 1 : content.includes("second") ? 2 : ""}`,
    );
    expect(shown).toEqual(["user: ", "assistant: ", "tool: 1", "tool: 2"]);
    await eventually(() => worker.stats().held === 0);
    expect(worker.stats().turns).toEqual({ suspended: 1, finished: 1, failed: 0, lost: 0, released: 0 });
  });

  test("[UTP-10.8-1] usage goes with the step, its sum with the end; timing only when it is switched on", async () => {
    const usage = { prompt_tokens: 2 };
    const answers = [
      { ...call("nothing_like_it"), usage, cost: 0.5 },
      { ...say("x"), usage, cost: 0.25, model: "m" },
    ];
    const { turn } = await run({}, answers);
    await ended(turn);
    expect(turn.commits[0]?.metadata).toEqual({ llm_usage: usage, llm_response_cost: 0.5 });
    expect(turn.end).toMatchObject({
      metadata: { llm_usage: usage, llm_response_cost: 0.25, llm_model: "m" },
      stats: { step_count: 2, llm_usage: { prompt_tokens: 4 }, llm_response_cost: 0.75 },
    });
    expect(turn.end?.stats).not.toHaveProperty("timing");
    const logged: (object | undefined)[] = [];
    const log = { ...silentLog, info: (_message: string, fields?: object) => logged.push(fields) };
    const timed = await run({}, answers, { timing: { enabled: true, taskEvent: false }, log });
    await ended(timed.turn);
    expect(logged).toMatchObject([{ llm: {} }, { llm: {} }]);
    expect(timed.turn.end?.metadata).toMatchObject({ timing: { llm: { duration_ms: expect.any(Number) } } });
    expect(timed.turn.end?.stats).not.toHaveProperty("timing");
  });
});

describe("what a brain may do", () => {
  const ALL = { allowed_internal_tools: ["submit_result"] };

  test("[UTP-10.3-1] [UTP-W14] a mixed submit_result: every call has one failed result, and the turn goes on", async () => {
    const { turn, plane } = await run({ profile: ALL }, [call("echo", "submit_result", "echo"), submit({ ok: 1 })]);
    await ended(turn);
    expect(plane.dispatched).toEqual([]);
    expect(resultsOf(plane.outputOf(turn))).toEqual([
      "echo failed bad_request",
      "submit_result failed bad_request",
      "echo failed bad_request",
      "submit_result success",
    ]);
    expect(turn.end?.deliverable).toEqual({ ok: 1 });
  });

  test("[UTP-10.4-3] submit_result writes a terminating result and no tool.call card", async () => {
    const { turn, plane } = await run({ profile: ALL }, [submit("fine")]);
    await ended(turn);
    const output = plane.outputOf(turn);
    expect(types(output)).toEqual(["agent.thought", "tool.result"]);
    expect(output[1]?.content).toMatchObject({ status: "success", after_execution: "terminate" });
    expect(turn.end).toMatchObject({ status: "success", deliverable: "fine" });
  });

  test("[UTP-10.3-2] [UTP-W20-A1] a tool the profile does not list is refused, beside one that is carried out", async () => {
    const { turn, plane } = await run({}, [call("rm", "echo"), say("done")]);
    await eventually(() => plane.dispatched.length === 1);
    plane.settle(plane.dispatched[0]?.toolCallId ?? "", 1);
    await ended(turn);
    expect(resultsOf(plane.outputOf(turn))).toEqual(["rm failed auth_failed", "echo success"]);
  });

  test("[UTP-10.3-5] a step with nothing but refusals does not suspend the turn", async () => {
    const { turn, asked, plane } = await run({}, [call("rm"), say("done")]);
    await ended(turn);
    expect(asked).toHaveLength(2);
    const [refusal] = plane.outputOf(turn).filter(({ type }) => type === "tool.result");
    expect(refusal?.content).toMatchObject({ status: "failed", after_execution: "suspend" });
  });

  test("[UTP-10.2-6] submit_result is offered when allowed, with the fields the task requires", async () => {
    const origin = { cardId: "fields", projectId: PROJECT, createdAt: "2026-01-01T00:00:00Z", authorId: "sys.test" };
    const contextCards = [createResultFieldsCard({ ...origin, fields: [{ name: "answer" }] })];
    const { turn, asked } = await run({ profile: ALL, contextCards }, [submit({}), submit({ answer: 4 })]);
    await ended(turn);
    const offered = asked[0]?.tools.map(({ function: { name, parameters } }) => [name, JSON.stringify(parameters)]);
    expect(offered?.map(([name]) => name)).toEqual(["echo", "submit_result"]);
    expect(offered?.[1]?.[1]).toContain("answer");
    expect(asked[0]?.system).toContain("- answer");
    expect(turn.end?.deliverable).toEqual({ fields: [{ name: "answer", value: "4" }] });
  });

  test("[UTP-10.5-2] must_end_with: text alone is answered by a reminder; at the end of the budget the turn fails", async () => {
    const { turn, asked, plane } = await run({ profile: { must_end_with: ["echo"] } }, [say("no")], {
      limits: { maxSteps: 3 },
    });
    await ended(turn);
    expect(asked).toHaveLength(3);
    expect(types(plane.outputOf(turn)).filter((type) => type === "sys.must_end_with_required")).toHaveLength(3);
    expect(turn.end).toMatchObject({
      status: "failed",
      errorCode: "max_steps_reached",
      error: "max_steps_reached (max_steps=3)",
    });
  });

  test("[UTP-10.2-9] with two steps left it is warned, in the last one it may only hand in", async () => {
    const { turn, asked } = await run({ profile: ALL }, [call("rm")], { limits: { maxSteps: 3 } });
    await ended(turn);
    const offered = asked.map(({ tools }) => tools.map(({ function: { name } }) => name));
    expect(offered).toEqual([["echo", "submit_result"], ["echo", "submit_result"], ["submit_result"]]);
    const lastWords = asked.map(({ messages }) => messages.at(-1)?.role);
    expect(lastWords).toEqual(["user", "system", "system"]);
  });

  test("[UTP-10.2-12] the aliases of calls come back in the transcript, made where the provider gave none", async () => {
    const { turn, asked } = await run({}, [{ text: "", toolCalls: [{ name: "rm", arguments: "" }] }, say("x")]);
    await ended(turn);
    expect(asked[1]?.messages[1]).toMatchObject({ tool_calls: [{ id: "tc_1_1" }] });
    expect(asked[1]?.messages[2]).toMatchObject({ role: "tool", tool_call_id: "tc_1_1" });
  });
});

describe("read_card", () => {
  const LONG = "x".repeat(20_000);

  test("[UTP-4.7-W1] a long result is shown as a preview, and read_card reads on where it was cut", async () => {
    const plane = createFakePlane();
    const { brain, asked } = brainOf(async ({ stepNumber, messages }) => {
      if (stepNumber === 1) return call("echo");
      if (stepNumber > 2) return say("done");
      const cardId = /"card_id":"([^"]+)"/.exec(messages.at(-1)?.content ?? "")?.[1];
      return { text: "", toolCalls: [{ id: "r", name: "read_card", arguments: { card_id: cardId, offset: 6_000 } }] };
    });
    await start(plane, brain);
    const turn = plane.spawn("a");
    await eventually(() => plane.dispatched.length === 1);
    plane.settle(plane.dispatched[0]?.toolCallId ?? "", LONG);
    await ended(turn);
    expect(asked[0]?.tools.map(({ function: { name } }) => name)).toEqual(["echo"]);
    expect(asked[1]?.tools.map(({ function: { name } }) => name)).toEqual(["echo", "read_card"]);
    expect(asked[2]?.messages.at(-1)?.content).toContain("The next part begins at offset 14000");
    expect(plane.dispatched).toHaveLength(1);
    expect(types(plane.outputOf(turn)).filter((type) => type === "tool.call")).toHaveLength(1);
  });
});

describe("how a turn fails", () => {
  test.each<[string, SpawnOptions, (BrainAnswer | Error)[], Partial<WorkerOptions>, string]>([
    ["[UTP-10.2-2] too deep", { depth: 20 }, [], {}, "recursion_depth_exceeded"],
    ["[UTP-10.2-3] too many steps", {}, [call("rm")], { limits: { maxSteps: 2 } }, "max_steps_reached"],
    ["[UTP-10.2-4] no profile", { profile: null }, [], {}, "profile_not_found"],
    ["[UTP-W13] a brain that fails", {}, [new ToolplaneError("rate_limited", "slow down")], {}, "rate_limited"],
    ["[UTP-W35-T1] a brain that breaks", {}, [new RangeError("boom")], {}, "internal_error"],
    ["[UTP-W35-T1] an answer that is none", {}, [undefined as never], {}, "internal_error"],
  ])("%s", async (_what, options, answers, more, code) => {
    const { turn } = await run(options, answers, more);
    await ended(turn);
    expect(turn.end).toMatchObject({ status: "failed", errorCode: code, error: expect.any(String) });
    expect(turn.end?.error).not.toContain("boom");
  });

  test("[UTP-W13] a brain source that has no brain for the profile ends the turn with its reason", async () => {
    const plane = createFakePlane();
    await start(
      plane,
      { think: async () => say("") },
      {
        brains: () => Promise.reject(new ToolplaneError("not_found", "there is no model x")),
      },
    );
    const turn = plane.spawn("a");
    await ended(turn);
    expect(turn.end).toMatchObject({ status: "failed", errorCode: "not_found", error: "there is no model x" });
  });

  test("[UTP-W35-T1] a step that cannot be written ends the turn with the reason", async () => {
    const { turn, plane } = await run({}, [call("echo")]);
    plane.trouble.set("commitStep", () => Promise.reject(new ToolplaneError("payload_too_large", "too large")));
    await ended(turn);
    expect(turn.end).toMatchObject({ status: "failed", errorCode: "payload_too_large" });
  });

  test("an end that cannot be written is written without what it brings", async () => {
    const { turn, plane } = await run({}, [say("x")]);
    let tries = 0;
    plane.trouble.set("finish", async () => {
      if (tries++ === 0) throw new ToolplaneError("result_too_large", "too large");
      return undefined as never;
    });
    await ended(turn);
    expect(turn.end).toMatchObject({ status: "failed", errorCode: "result_too_large" });
    expect(turn.end).not.toHaveProperty("deliverable");
  });

  test("a brain that never answers is given up", async () => {
    const plane = createFakePlane();
    await start(plane, { think: () => new Promise(() => {}) }, { limits: { thinkMs: 20 } });
    const turn = plane.spawn("a");
    await ended(turn);
    expect(turn.end).toMatchObject({ status: "failed", errorCode: "upstream_unavailable" });
  });

  test("[UTP-10.2-1] a database that is away for a moment costs nothing but time", async () => {
    const { turn, plane } = await run({}, [say("x")]);
    let tries = 0;
    plane.trouble.set("finish", async () => {
      if (tries++ < 2) throw new ToolplaneError("storage_error", "away");
      return undefined as never;
    });
    await ended(turn);
    expect(turn.end).toMatchObject({ status: "success", deliverable: "x" });
  });
});

describe("ui actions", () => {
  const act = async (toolName: string | undefined) => {
    const plane = createFakePlane(["echo", "ui_echo"]);
    const { brain, asked } = scripted(say("never"));
    await start(plane, brain);
    const payload = { action_id: "act_1", args: { a: 1 }, ...(toolName === undefined ? {} : { tool_name: toolName }) };
    return { plane, asked, turn: plane.spawn("a", { kind: "ui_action", payload }) };
  };

  test.each<[string, unknown, object]>([
    ["a text", "pong", { status: "success", deliverable: "pong" }],
    ["a document", { a: 1 }, { status: "success", deliverable: { a: 1 } }],
    ["nothing", null, { status: "success", deliverable: "(no content)" }],
    ["a number", 4, { status: "success", deliverable: "4" }],
    [
      "a failure",
      new ToolplaneError("rate_limited", "slow"),
      { status: "failed", errorCode: "rate_limited", error: "slow" },
    ],
  ])("[UTP-13.1-W1] one call, and the turn ends as the call did, without a brain: %s", async (_what, result, end) => {
    const { plane, asked, turn } = await act("ui_echo");
    await eventually(() => plane.dispatched.length === 1);
    expect(turn.commits[0]).toMatchObject({
      stepId: expect.stringContaining("step_ui_"),
      entries: [{ call: { toolName: "ui_echo", arguments: { a: 1 } } }],
    });
    plane.settle(plane.dispatched[0]?.toolCallId ?? "", result);
    await ended(turn);
    expect(turn.end).toMatchObject(end);
    expect(asked).toHaveLength(0);
  });

  test.each([
    ["may not be used from a user interface", "echo", "auth_failed"],
    ["does not exist", "ui_nothing", "not_found"],
    ["is not named", undefined, "missing_required_fields"],
  ])("[UTP-13.1-W1] a tool that %s fails the turn and is not called", async (_what, toolName, code) => {
    const { plane, turn } = await act(toolName);
    await ended(turn);
    expect(turn.end).toMatchObject({ status: "failed", errorCode: code });
    expect(plane.dispatched).toEqual([]);
  });
});
