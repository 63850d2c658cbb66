// Section 10.3 of the protocol with nothing but requests: a profile whose script answers as a bad model would, a turn, and the
// cards of its output box.
// Doors: HTTP

import { type BrainFunction, createBrainSource, createWorker } from "@toolplane/agents";
import { systemClock } from "@toolplane/engine";
import { meddle } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "../http/http-stack.ts";

const NEWS_HEADERS = {
  traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
  "CG-Recursion-Depth": "0",
};

/** Something comes for the agent while it thinks about its first step. */
const submitsWithNews: BrainFunction = async ({ stepNumber, agentId, agentTurnId }) => {
  const row = ["demo", "news", agentId, "tool_result", agentTurnId, 1, JSON.stringify(NEWS_HEADERS), "{}"];
  if (stepNumber === 1) await meddle(http.t, "addInboxRow", row);
  return { toolCalls: [{ id: "s", name: "submit_result", arguments: { result: "the answer" } }] };
};

let http: HttpStack;
let stop: () => Promise<void>;
beforeAll(async () => {
  http = await startHttpStack();
  const functions = new Map([["submits", submitsWithNews]]);
  const brains = createBrainSource({ secret: () => undefined, clock: systemClock, functions });
  const worker = createWorker({ engine: http.t.engine, brains, workerTargets: ["crew"], lookMs: 200 });
  await worker.start();
  stop = () => worker.stop();
  await http.send("POST", "/projects/demo/tools", {
    tool_name: "exact",
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.exact",
    after_execution: "suspend",
    parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  });
});
afterAll(async () => {
  await stop();
  await http[Symbol.asyncDispose]();
});

interface Result {
  readonly tool_call_id: string;
  readonly author_id: string;
  readonly status: string;
  readonly after_execution: string;
  readonly error: { readonly code: string; readonly source?: string } | null;
}
interface Outcome {
  readonly status: unknown;
  /** Result cards in the order of the output box. */
  readonly results: readonly Result[];
  readonly calls: readonly string[];
}

let made = 0;
/** A turn of an agent whose script has this step and then ends. */
const turnOf = async (call: readonly object[]): Promise<Outcome> => {
  made += 1;
  const name = `script-${made}`;
  const script = { steps: [{ call }, { finish: "over" }] };
  await http.send("POST", "/projects/demo/profiles", {
    name,
    worker_target: "crew",
    allowed_tools: ["exact", "nowhere"],
    allowed_internal_tools: ["submit_result"],
    llm_config: { provider: "script", script },
  });
  await http.send("POST", "/projects/demo/agents", { agent_id: name, profile_name: name });
  const asked = { instruction: "go", wait_seconds: 60 };
  return outcomeOf((await http.send("POST", `/projects/demo/agents/${name}/turns`, asked)).body);
};

const outcomeOf = async (body: object): Promise<Outcome> => {
  const { output_box_id: boxId, status } = body as { readonly output_box_id: string; readonly status: string };
  const box = `/projects/demo/boxes/${boxId}/cards`;
  const cards = (await http.send("GET", box)).body as unknown as readonly {
    readonly type: string;
    readonly tool_call_id: string;
    readonly author_id: string;
    readonly content: Omit<Result, "tool_call_id" | "author_id">;
  }[];
  const of = (type: string) => cards.filter((card) => card.type === type);
  return {
    status,
    results: of("tool.result").map(({ content, ...card }) => ({ ...card, ...content })),
    calls: of("tool.call").map(({ tool_call_id }) => tool_call_id),
  };
};

const refused = (code: string) => ({
  status: "failed",
  after_execution: "suspend",
  error: { code, source: "worker" },
});

test.each([
  ["[UTP-10.3-2] a tool that the profile does not allow", { tool: "safe", arguments: {} }, "auth_failed"],
  ["[UTP-10.3-4] a tool that is not there", { tool: "nowhere", arguments: {} }, "not_found"],
  ["[UTP-10.3-3] arguments that break the parameters", { tool: "exact", arguments: { n: "one" } }, "bad_request"],
  ["[UTP-10.3-3] arguments that are not JSON", { tool: "exact", arguments: "{n:" }, "bad_request"],
])("[UTP-10.3-5] %s gets one failed result, and the turn goes on", async (_name, call, code) => {
  const { status, results } = await turnOf([call]);
  expect(results).toMatchObject([refused(code)]);
  expect(status).toBe("success");
  expect(
    (await http.send("GET", `/projects/demo/calls?tool_name=${(call as { tool: string }).tool}`)).body.items,
  ).toEqual([]);
});

test("[UTP-10.3-1] submit_result beside another call: neither is carried out, each has a failed result, the turn goes on", async () => {
  const { status, results } = await turnOf([
    { tool: "exact", arguments: { n: 1 } },
    { tool: "submit_result", arguments: { result: "done" } },
  ]);
  expect(results.map(({ status: how }) => how)).toEqual(["failed", "failed"]);
  expect(status).toBe("success");
  expect((await http.send("GET", "/projects/demo/calls?tool_name=exact")).body.items).toEqual([]);
});

test("[UTP-10.3-6] a turn that submits its result while a message waits is told so, and ends when it has seen the message", async () => {
  await http.send("POST", "/projects/demo/profiles", {
    name: "submits",
    worker_target: "crew",
    allowed_internal_tools: ["submit_result"],
    llm_config: { model: "function/submits" },
  });
  await http.send("POST", "/projects/demo/agents", { agent_id: "submits", profile_name: "submits" });
  const asked = { instruction: "go", wait_seconds: 60 };
  const { body } = await http.send("POST", "/projects/demo/agents/submits/turns", asked);
  expect(body).toMatchObject({ status: "success", step_count: 2, deliverable: "the answer" });
  const { results } = await outcomeOf(body);
  expect(results.map(({ error }) => error?.code ?? null)).toEqual(["inbox_not_empty", null]);
});

test("[UTP-10.3-7] the results of a step stand in the box in the order of its calls", async () => {
  const { results } = await turnOf([
    { tool: "nowhere", arguments: {} },
    { tool: "exact", arguments: {} },
    { tool: "safe", arguments: {} },
  ]);
  expect(results.map(({ error }) => error?.code)).toEqual(["not_found", "bad_request", "auth_failed"]);
});
