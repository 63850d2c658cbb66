// Looking at work: who a token is, lists by filter, heads, steps and edges, exports, pieces of cards.

import { resultFor, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";
import { callsOf, idOf } from "./looking/read.ts";

let http: HttpStack;
let made: { readonly api: string; readonly failed: string; readonly ann: string; readonly traced: string };
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

const settle = async (tool: string, agentId: string | undefined, failed: boolean, traceparent?: string) => {
  const { engine, projectId } = http.t;
  const call = await engine.calls.dispatch({ projectId, toolName: tool, arguments: {}, agentId, traceparent });
  const target = tool === "alien" ? "elsewhere" : "test";
  const [leased] = await engine.calls.claim({ projectId, target, holder: "h", max: 1 });
  const error = { code: "tool_error", message: "no" };
  const outcome = failed ? { status: "failed", error } : {};
  await engine.calls.settle(resultFor(leased ?? expect.unreachable("no call"), outcome as never));
  return call.toolCallId;
};

beforeAll(async () => {
  http = await startHttpStack();
  const { engine } = http.t;
  await engine.tools.upsertTool("demo", toolUpload({ name: "alien", target: "elsewhere" }));
  await engine.profiles.upsertProfile("demo", { name: "plain", worker_target: "crew", allowed_tools: ["safe"] });
  await engine.agents.upsertAgent("demo", { agent_id: "ann", profile_name: "plain" });
  made = {
    api: await settle("safe", undefined, false),
    failed: await settle("alien", undefined, true),
    ann: await settle("safe", "ann", false),
    traced: await settle("unsafe", undefined, false, `00-${TRACE}-00f067aa0ba902b7-01`),
  };
});
afterAll(() => http[Symbol.asyncDispose]());

test("[API-whoami] a token is told what it is, and sees its project alone", async () => {
  const { engine } = http.t;
  await engine.projects.createProject({ project_id: "other", title: "Other", bootstrap: false }, "sys.test");
  const token = (await engine.tokens.create({ role: "agent", projectId: "demo", actorId: "ann" })).secret;
  const seen = { project_id: "demo", name: "Demo" };
  expect((await http.send("GET", "/whoami", undefined, { token })).body).toEqual({
    ...{ role: "agent", project: "demo", actor: "ann", targets: [], projects: [seen] },
  });
  expect((await http.send("GET", "/projects", undefined, { token })).body.items.map(idOf("project_id"))).toEqual([
    "demo",
  ]);
  const service = (await http.send("GET", "/whoami", undefined, { token: await http.toolToken(["a", "b"]) })).body;
  expect(service).toMatchObject({ role: "tool", targets: ["a", "b"], projects: [seen] });
  const admin = (await http.send("GET", "/whoami")).body;
  expect(admin).toMatchObject({ role: "admin", project: null, projects: [seen, { project_id: "other" }] });
});

const byFilter: readonly (readonly [string, () => readonly string[]])[] = [
  ["", () => [made.traced, made.ann, made.failed, made.api]],
  ["tool_name=safe", () => [made.ann, made.api]],
  ["agent_id=ann", () => [made.ann]],
  ["agent_id=sys.api", () => [made.traced, made.failed, made.api]],
  ["target=elsewhere", () => [made.failed]],
  ["target=test", () => [made.traced, made.ann, made.api]],
  ["target=nowhere", () => []],
  ["error_code=tool_error", () => [made.failed]],
  ["error_code=tool_error&tool_name=safe", () => []],
  [`trace_id=${TRACE}`, () => [made.traced]],
  [`trace_id=${TRACE.toUpperCase()}`, () => [made.traced]],
  [`trace_id=${"0".repeat(32)}`, () => []],
  ["until=2026-01-01T00:00:00Z", () => []],
  ["since=2026-01-01T00:00:00Z&status=failed", () => [made.failed]],
  ["since=2099-01-01T00:00:00Z", () => []],
];

test.each(byFilter)("[API-filters] calls by %s", async (query, expected) => {
  expect((await callsOf(http, query)).ids).toEqual(expected());
});

test("[API-filters] filtered lists come in pages, live calls first, and a trace of the plane is found", async () => {
  const { tool_call_id: live, trace_id } = (await http.send("POST", "/projects/demo/calls", { tool_name: "safe" }))
    .body;
  const first = await callsOf(http, "tool_name=safe&limit=2");
  expect(first.ids).toEqual([live, made.ann]);
  expect((await callsOf(http, `tool_name=safe&limit=2&cursor=${first.next}`)).ids).toEqual([made.api]);
  expect((await callsOf(http, `trace_id=${trace_id}`)).ids).toEqual([live]);
  const { tree } = (await http.send("GET", `/projects/demo/traces/${TRACE}`)).body;
  expect(tree).toMatchObject([{ kind: "call", id: made.traced }]);
  await http.send("POST", `/projects/demo/calls/${live}/cancel`, {});
  // Settled, it is found where it was: among the calls of its moment.
  expect((await callsOf(http, `trace_id=${trace_id}`)).ids).toEqual([live]);
});

test("[API-filters] an agent's token lists its own calls, also of a trace that holds others", async () => {
  const token = (await http.t.engine.tokens.create({ role: "agent", projectId: "demo", actorId: "ann" })).secret;
  expect((await callsOf(http, "", token)).ids).toEqual([made.ann]);
  expect((await callsOf(http, `trace_id=${TRACE}`, token)).ids).toEqual([]);
  const refused = await http.send("GET", "/projects/demo/calls?agent_id=bob", undefined, { token });
  expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining("leave agent_id out")]);
});

test("[API-state] heads, steps and edges of a turn, and turns by trace and time", async () => {
  const headers = { traceparent: `00-${"a".repeat(32)}-00f067aa0ba902b7-01` };
  const asked = { instruction: "look" };
  const turn = (await http.send("POST", "/projects/demo/agents/ann/turns", asked, { headers })).body;
  const list = async (path: string) => (await http.send("GET", `/projects/demo/${path}`)).body.items;
  expect(await list("state/agents")).toMatchObject([{ agent_id: "ann", active_agent_turn_id: turn.agent_turn_id }]);
  expect(await list("state/agents?status=suspended")).toEqual([]);
  expect(await list(`turns?trace_id=${"a".repeat(32)}`)).toMatchObject([{ agent_turn_id: turn.agent_turn_id }]);
  expect(await list("turns?until=2026-01-01T00:00:00Z")).toEqual([]);
  const { turns } = http.t.engine;
  const { work } = await turns.advance({ projectId: "demo", agentId: "ann", workerId: "w", takeWork: true });
  const taken = work ?? expect.unreachable("no work");
  await turns.beginStep(taken, "step_1");
  expect(await list(`state/steps?agent_turn_id=${turn.agent_turn_id}`)).toMatchObject([{ step_id: "step_1" }]);
  expect(await list("state/steps?agent_id=ann")).toMatchObject([{ step_id: "step_1", trace_id: "a".repeat(32) }]);
  const edges = await list("state/execution/edges?agent_id=ann");
  expect(edges).toMatchObject([
    { primitive: "enqueue", edge_phase: "request", target_turn_id: turn.agent_turn_id },
    { primitive: "report", correlation_id: made.ann },
    { primitive: "tool_call", correlation_id: made.ann, metadata: { tool_name: "safe" } },
  ]);
  const [step] = await list("state/steps?agent_id=ann");
  for (const [filter, value] of [
    ["channel_id", "public"],
    ["step_id", "step_1"],
    ["status", step?.status],
  ]) {
    expect(await list(`state/steps?agent_id=ann&${filter}=${value}`)).toEqual([step]);
    expect(await list(`state/steps?agent_id=ann&${filter}=other`)).toEqual([]);
  }
  expect(await list("state/steps?parent_step_id=other")).toEqual([]);
  for (const [filter, value] of [
    ["channel_id", "public"],
    ["trace_id", "a".repeat(32)],
    ["correlation_id", turn.agent_turn_id],
  ]) {
    expect(await list(`state/execution/edges?agent_id=ann&${filter}=${value}`)).toContainEqual(edges[0]);
    expect(await list(`state/execution/edges?agent_id=ann&${filter}=${"b".repeat(32)}`)).toEqual([]);
  }
  expect(await list("state/execution/edges?parent_step_id=other")).toEqual([]);
  expect(await list("state/execution/edges?agent_id=ann&primitive=report")).toMatchObject([edges[1]]);
  const first = (await http.send("GET", "/projects/demo/state/execution/edges?limit=1")).body;
  expect(first.items).toMatchObject([edges[0]]);
  const second = await list(`state/execution/edges?limit=100&cursor=${first.next_cursor}`);
  expect(second.map(idOf("edge_id"))).not.toContain(idOf("edge_id")(first.items[0]));
  expect(second.length).toBeGreaterThanOrEqual(8);
});

test("[API-export] a turn is exported with its steps, its boxes and the cards in them", async () => {
  const asked = { instruction: "keep this sentence" };
  const turn = (await http.send("POST", "/projects/demo/agents/ann/turns", asked)).body;
  const { body } = await http.send("GET", `/projects/demo/turns/${turn.agent_turn_id}/export`);
  expect(body).toMatchObject({
    format: "toolplane.turn.1",
    turn: { agent_turn_id: turn.agent_turn_id },
    steps: [],
    calls: [],
    next_cursor: null,
  });
  const { cards, boxes } = body as unknown as {
    readonly cards: readonly { readonly card_id: string }[];
    readonly boxes: { readonly context: readonly string[] };
  };
  expect(cards.map(({ card_id }) => card_id)).toEqual(boxes.context);
  expect(JSON.stringify(cards)).toContain("keep this sentence");
});

test("[API-cards-pieces] a card is read in pieces that give its content again", async () => {
  const note = "a 😀 and more ".repeat(50);
  const { tool_call_card_id: card } = (
    await http.send("POST", "/projects/demo/calls", { tool_name: "safe", arguments: { note } })
  ).body;
  let whole = "";
  for (let offset: number | null = 0; offset !== null; ) {
    const { body } = await http.send("GET", `/projects/demo/cards/${card}?offset=${offset}&length=37`);
    const piece = body as unknown as { readonly text: string; readonly next_offset: number | null };
    expect(piece.text.isWellFormed()).toBe(true);
    whole += piece.text;
    offset = piece.next_offset;
  }
  expect(JSON.parse(whole)).toMatchObject({ tool_name: "safe", arguments: { note } });
});

test("[UTP-13.2-D2] a suspended agent is shown with the time at which it goes on at the latest", async () => {
  const { engine } = http.t;
  await engine.agents.upsertAgent("demo", { agent_id: "eve", profile_name: "plain" });
  for (const [name, timeout_seconds] of [
    ["brief", 20],
    ["long", 500],
  ] as const)
    await engine.tools.upsertTool(
      "demo",
      toolUpload({ name, target: name, options: { timeout_seconds, queue_timeout_seconds: 100 } }),
    );
  const suspend = async (resumeSeconds?: number) => {
    await http.send("POST", "/projects/demo/agents/eve/turns", { instruction: "wait" });
    const { work } = await engine.turns.advance({ projectId: "demo", agentId: "eve", workerId: "w", takeWork: true });
    const entries = [{ call: { toolName: "brief", arguments: {} } }, { call: { toolName: "long", arguments: {} } }];
    const turn = work ?? expect.unreachable("no work");
    const { calls } = await engine.turns.commitStep(turn, { stepId: `${turn.agentTurnId}_1`, entries, resumeSeconds });
    const deadline = async (): Promise<number> => {
      const { items } = (await http.send("GET", "/projects/demo/state/agents?status=suspended")).body;
      const [head] = items as unknown as readonly { readonly resume_deadline: string }[];
      return Date.parse(head?.resume_deadline ?? "");
    };
    return { turn, calls, deadline };
  };
  const { turn, calls, deadline } = await suspend();
  const slow = { projectId: "demo", toolCallId: calls[1]?.toolCallId ?? "" };
  const offered = await engine.calls.get(slow);
  expect(await deadline()).toBe(offered.queueDeadline.getTime() + 500_000);
  await engine.calls.cancel({ projectId: "demo", toolCallId: calls[0]?.toolCallId ?? "" });
  await engine.calls.claim({ projectId: "demo", target: "long", holder: "h", max: 1 });
  expect(await deadline()).toBe((await engine.calls.get(slow)).runDeadline?.getTime());
  await engine.turns.stop({ ...turn, actorId: "sys.api" });
  expect(await deadline()).toBeNaN();
  // The turn's own time ends first.
  const short = await suspend(60);
  const { queueDeadline } = await engine.calls.get({ projectId: "demo", toolCallId: short.calls[1]?.toolCallId ?? "" });
  expect(await short.deadline()).toBeLessThan(queueDeadline.getTime());
});
