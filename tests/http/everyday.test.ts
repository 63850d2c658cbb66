// What a person does with calls and turns over HTTP: looks at them, continues a conversation, gives a budget. One plane for all.

import { createFunctionBrain, createWorker, type FunctionAnswer } from "@toolplane/agents";
import { HEADERS } from "@toolplane/protocol";
import { meddle } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

type Message = { readonly role: string; readonly content: string };

let http: HttpStack;
let stop: () => Promise<void>;
/** What the model was shown, by turn. */
const shown = new Map<string, readonly Message[]>();
/** What an agent's brain answers, by agent and step. */
const answers: Record<string, (step: number, last: string) => FunctionAnswer | string> = {
  talker: (_step, last) => `heard ${last}`,
  busy: () => ({
    text: "on it",
    toolCalls: [{ id: "c", name: "safe", arguments: { n: 1 } }],
    usage: { total_tokens: 40 },
  }),
  waits: (step) => (step === 1 ? { toolCalls: [{ id: "c", name: "unsafe", arguments: {} }] } : "late"),
  payer: (step) => (step === 1 ? { toolCalls: [{ id: "p", name: "paying", arguments: { pin: "p1n-9431" } }] } : "paid"),
  submits: (step) =>
    step === 1
      ? {
          toolCalls: [
            { id: "s", name: "submit_result", arguments: { result: { fields: [{ name: "total", value: "7" }] } } },
          ],
        }
      : "nothing",
};

const ask = async (agent: string, body: object) =>
  (await http.send("POST", `/projects/demo/agents/${agent}/turns`, { wait_seconds: 30, ...body })).body;
const turnOf = async (id: string, query = "") => (await http.send("GET", `/projects/demo/turns/${id}${query}`)).body;

/** A service that answers every call at once. */
const serve = async (over: AbortSignal): Promise<void> => {
  const token = await http.toolToken();
  while (!over.aborted) {
    const claimed = await http.raw("/projects/demo/tool-services/test/claim", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ max: 4, wait_seconds: 20 }),
      signal: over,
    });
    const { commands } = (await claimed.json()) as {
      commands: { headers: Record<string, string>; lease: { id: string }; payload: { tool_name: string } }[];
    };
    for (const { headers, lease, payload } of commands) {
      if (payload.tool_name === "unsafe") continue;
      const result = { lease: lease.id, status: "success", result: { ok: true } };
      await http.send("POST", `/projects/demo/calls/${headers[HEADERS.toolCallId]}/result`, result, { token });
    }
  }
};

beforeAll(async () => {
  http = await startHttpStack();
  const { engine } = http.t;
  for (const name of Object.keys(answers)) {
    const profile = {
      name,
      worker_target: "crew",
      allowed_tools: ["safe", "unsafe", "paying"],
      allowed_internal_tools: ["submit_result"],
    };
    const budget = name === "busy" ? { budget: { steps: 3 } } : {};
    await http.send("POST", "/projects/demo/profiles", { ...profile, ...budget });
    await http.send("POST", "/projects/demo/agents", { agent_id: name, profile_name: name });
  }
  const brain = createFunctionBrain(({ agentId, agentTurnId, stepNumber, messages }) => {
    const said = messages.filter(({ role }) => role !== "system") as readonly Message[];
    shown.set(agentTurnId, said);
    return answers[agentId]?.(stepNumber, said.at(-1)?.content ?? "") ?? "?";
  });
  const worker = createWorker({ engine, brains: async () => brain, workerTargets: ["crew"] });
  await worker.start();
  const over = new AbortController();
  const serving = serve(over.signal).catch(() => undefined);
  stop = async () => {
    over.abort();
    await serving;
    await worker.stop({ drainMs: 0 });
    await http[Symbol.asyncDispose]();
  };
});
afterAll(() => stop());

describe("a conversation", () => {
  test("[CONV-1] three turns: the third is shown everything that was said, in order, once", async () => {
    const first = await ask("talker", { instruction: "one" });
    const second = await ask("talker", { instruction: "two", continue: first.agent_turn_id });
    const third = await ask("talker", { instruction: "three", continue: second.agent_turn_id });
    expect(third).toMatchObject({ status: "success", deliverable: "heard three" });
    expect(shown.get(third.agent_turn_id)?.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      "user: one",
      "assistant: heard one",
      "user: two",
      "assistant: heard two",
      "user: three",
    ]);
  });

  test("[CONV-1] calls come with their results, and fields that an earlier turn had to fill are not asked for again", async () => {
    const first = await ask("submits", { instruction: "fill", result_fields: [{ name: "total" }] });
    expect(first).toMatchObject({ status: "success", deliverable: { fields: [{ name: "total", value: "7" }] } });
    answers.submits = () => "later";
    const second = await ask("submits", { instruction: "and now?", continue: first.agent_turn_id });
    expect(second.deliverable).toBe("later");
    expect(shown.get(second.agent_turn_id)?.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  });

  test("[CONV-2] another agent's turn, an open turn and one that does not exist are refused, each with a reason", async () => {
    const { agent_turn_id: id } = await ask("talker", { instruction: "mine" });
    const start = (agent: string, body: object) => http.send("POST", `/projects/demo/agents/${agent}/turns`, body);
    const other = await start("busy", { instruction: "x", continue: id });
    expect([other.status, other.body.error.message]).toEqual([400, expect.stringContaining("a turn of agent talker")]);
    expect((await start("talker", { instruction: "x", continue: "turn_none" })).status).toBe(404);
    const open = await ask("waits", { instruction: "wait", wait_seconds: 0 });
    const early = await start("waits", { instruction: "x", continue: open.agent_turn_id });
    expect([early.status, early.body.error.code]).toEqual([409, "conflict"]);
    await http.send("POST", `/projects/demo/turns/${open.agent_turn_id}/stop`, {});
    const { secret } = await http.t.engine.tokens.create({ role: "agent", projectId: "demo", actorId: "busy" });
    const body = { instruction: "x", continue: id };
    const foreign = await http.send("POST", "/projects/demo/agents/busy/turns", body, { token: secret });
    expect([foreign.status, foreign.body.error.code]).toEqual([403, "auth_failed"]);
    expect((await start("talker", { instruction: "x", continue: id, context_box_id: "b" })).status).toBe(400);
  });
});

describe("a budget", () => {
  test("[BUDGET-1] [BUDGET-2] steps: of the profile, of the request, and which code names it", async () => {
    const ofProfile = await ask("busy", { instruction: "go" });
    expect(ofProfile).toMatchObject({ status: "failed", step_count: 3, error: { code: "max_steps_reached" } });
    const more = await ask("busy", { instruction: "go", budget: { steps: 4 } });
    expect(more.step_count).toBe(4);
    const { secret } = await http.t.engine.tokens.create({ role: "agent", projectId: "demo", actorId: "busy" });
    const asked = { instruction: "go", budget: { steps: 9 }, wait_seconds: 30 };
    const own = await http.send("POST", "/projects/demo/agents/busy/turns", asked, { token: secret });
    expect(own.body.step_count).toBe(3);
    expect((await ask("busy", { instruction: "go", budget: { steps: 0 } })).error.code).toBe("bad_request");
  });

  test("[BUDGET-2] tokens end a turn before the step that has none left", async () => {
    const turn = await ask("busy", { instruction: "go", budget: { tokens: 60 } });
    expect(turn).toMatchObject({ status: "failed", step_count: 2, error: { code: "token_budget_reached" } });
    expect(turn.deliverable).toMatchObject({ kind: "fallback_deliverable" });
  });

  test("[BUDGET-3] [BUDGET-2] time ends a turn that waits for a call, and cancels the call", async () => {
    const { agent_turn_id: id } = await ask("waits", {
      instruction: "wait",
      budget: { seconds: 600 },
      wait_seconds: 0,
    });
    await expect.poll(async () => (await turnOf(id)).status).toBe("suspended");
    const { engine, database } = http.t;
    await meddle(database.url, "lapseResume", [id]);
    await engine.tendTurns.open(100);
    const turn = await turnOf(id);
    expect(turn).toMatchObject({ status: "timeout", error: { code: "time_budget_reached" } });
    const [callId] = turn.steps[0]?.tool_call_ids ?? [];
    expect((await http.send("GET", `/projects/demo/calls/${callId}`)).body.status).toBe("canceled");
  });
});

describe("looking", () => {
  test("[SEE-2] a turn in full has its instruction, thoughts, calls with arguments and results", async () => {
    const { agent_turn_id: id } = await ask("busy", { instruction: "look at this", budget: { steps: 2 } });
    expect(await turnOf(id)).not.toHaveProperty("instruction");
    const turn = await turnOf(id, "?detail=full");
    expect(turn.instruction).toBe("look at this");
    expect(turn.steps[0]).toMatchObject({
      thought: "on it",
      calls: [{ tool_name: "safe", arguments: { n: 1 }, status: "success", result: { ok: true } }],
      metadata: { llm_usage: { total_tokens: 40 } },
    });
    const trace = (await http.send("GET", `/projects/demo/traces/${turn.trace_id}`)).body;
    expect(trace.tree).toMatchObject([
      { kind: "turn", id, children: [{ kind: "step", children: [{ kind: "call", name: "safe" }] }, { kind: "step" }] },
    ]);
  });

  test("[SEE-6] direct calls of a caller's own trace are found; an unknown trace is not", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const made = await http.send("POST", "/projects/demo/calls", { tool_name: "safe", wait_seconds: 30 }, { headers });
    const trace = (await http.send("GET", `/projects/demo/traces/${traceId}`)).body;
    expect(trace.tree).toMatchObject([{ kind: "call", id: made.body.tool_call_id, children: [] }]);
    expect((await http.send("GET", `/projects/demo/traces/${"0".repeat(31)}1`)).status).toBe(404);
  });

  test("[SEE-1] hidden parameters stay hidden in a call, in why and in approvals", async () => {
    const { tools } = http.t.engine;
    await tools.upsertTool("demo", {
      tool_name: "secretive",
      description: "pay",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.pay",
      after_execution: "suspend",
      parameters: {
        type: "object",
        properties: { to: { type: "string" }, pin: { type: "string", writeOnly: true }, currency: { type: "string" } },
      },
      options: { approval: "required", args: { defaults: { currency: "EUR" }, fixed: {} } },
    });
    const made = await http.send("POST", "/projects/demo/calls", {
      tool_name: "secretive",
      arguments: { to: "ann", pin: "1234" },
    });
    const path = `/projects/demo/calls/${made.body.tool_call_id}`;
    const expected = { to: "ann", pin: "[hidden]", currency: "EUR" };
    const call = (await http.send("GET", path)).body;
    expect(call).toMatchObject({ arguments: expected, argument_layers: { defaults: ["currency"], hidden: ["pin"] } });
    expect((await http.send("GET", `${path}/why`)).body.facts.arguments).toEqual(expected);
    const waiting = (await http.send("GET", "/projects/demo/approvals")).body.items;
    expect(waiting).toMatchObject([{ tool_name: "secretive", arguments: expected }]);
  });

  test("[SEE-1] hidden parameters stay hidden in cards, boxes and exports, in the call and where the model asked for it", async () => {
    await http.t.engine.tools.upsertTool("demo", {
      tool_name: "paying",
      description: "pay",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.paying",
      after_execution: "suspend",
      parameters: { type: "object", properties: { pin: { type: "string", writeOnly: true } } },
      options: {},
    });
    const turn = await ask("payer", { instruction: "pay" });
    expect(turn).toMatchObject({ status: "success", deliverable: "paid" });
    const of = "/projects/demo";
    const { body } = await http.send("GET", `${of}/turns/${turn.agent_turn_id}/export`);
    const exported = body as unknown as {
      readonly cards: readonly { readonly card_id: string }[];
      readonly turn: { readonly output_box_id: string };
    };
    const ids = exported.cards.map(({ card_id }) => card_id);
    const box = exported.turn.output_box_id;
    const answered = [
      exported,
      await Promise.all(ids.map(async (id) => (await http.send("GET", `${of}/cards/${id}`)).body)),
      await Promise.all(ids.map(async (id) => (await http.send("GET", `${of}/cards/${id}?offset=0`)).body)),
      (await http.send("POST", `${of}/cards/batch`, { card_ids: ids })).body,
      (await http.send("GET", `${of}/boxes/${box}/cards`)).body,
      (await http.send("POST", `${of}/boxes/batch`, { box_ids: [box], hydrate: true })).body,
    ].map((one) => JSON.stringify(one));
    expect(answered.map((one) => one.includes("p1n-9431"))).toEqual(answered.map(() => false));
    // Once in the call's card, once in the thought that asked for it.
    expect(answered.map((one) => one.split("[hidden]").length - 1)).toEqual([2, 2, 1, 2, 2, 2]);
  });

  test("[SEE-5] why says how many run and how many are ahead", async () => {
    const { tools } = http.t.engine;
    await tools.pauseTool("demo", "safe");
    const make = async () => (await http.send("POST", "/projects/demo/calls", { tool_name: "safe" })).body.tool_call_id;
    const ids = [await make(), await make(), await make()];
    const why = async (id: string) => (await http.send("GET", `/projects/demo/calls/${id}/why`)).body;
    expect((await why(ids[2] ?? "")).why).toContain("safe is paused");
    expect((await why(ids[2] ?? "")).facts).toMatchObject({ running: expect.any(Number), ahead: 2 });
    await tools.resumeTool("demo", "safe");
  });
});
