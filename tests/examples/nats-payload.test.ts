// Services of the older protocol version: a Python program that was written from the older guide, with the rights that deploy/nats
// gives it; and payloads that claim another identity than their call's.

import { readFileSync } from "node:fs";
import { createNatsBus, type NatsLink } from "@toolplane/bus/nats";
import { type CallFacts, type Carrier, silentLog } from "@toolplane/engine";
import { createNatsGateway } from "@toolplane/server/internal";
import { startTestEngine, type TestEngine } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Program, startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";
import { type DeployedServer, startDeployedServer } from "../gateway/deployed-server.ts";
import { openPlaneLink, readAnswer } from "../gateway/gateway-stack.ts";
import type { WireClient } from "../gateway/wire-client.ts";
import { requirePython } from "./programs.ts";

type Fields = Readonly<Record<string, unknown>>;

const HELLO = { text: "Hello, world" };
const upload = parse(readFileSync(`${ROOT}/examples/nats-python/payload_tool.yaml`, "utf8")) as Fields & {
  readonly target_subject: string;
};
/** The user `legacy` of deploy/nats serves the target of its name. */
const definition = { ...upload, target_subject: upload.target_subject.replace("vowels", "legacy") };

let server: DeployedServer;
let link: NatsLink;
let t: TestEngine;
let gateway: { stop(): Promise<void> };
let legacy: WireClient;

const startService = async (): Promise<Program> => {
  const program = await startProgram(["python3", "examples/nats-python/payload_service.py"], {
    cwd: ROOT,
    env: {
      TOOLPLANE_NATS_URL: server.url("legacy"),
      TOOLPLANE_NATS_INBOX: "_INBOX_legacy__demo",
      TOOLPLANE_PROJECT: "demo",
      TOOLPLANE_TARGET: "legacy",
    },
  });
  await program.until("serving", (_, err) => (err.includes("serving ") ? true : undefined));
  return program;
};

const dispatch = async (toolName = "count_vowels"): Promise<CallFacts> => {
  const { toolCallId } = await t.engine.calls.dispatch({ projectId: "demo", toolName, arguments: HELLO });
  return t.engine.calls.facts({ projectId: "demo", toolCallId });
};

const statusOf = async ({ toolCallId }: CallFacts) =>
  (await t.engine.calls.get({ projectId: "demo", toolCallId })).status;

beforeAll(async () => {
  requirePython();
  server = await startDeployedServer();
  link = await openPlaneLink(server);
  const carrier = { open: ({ bury, log }: Parameters<Carrier["open"]>[0]) => createNatsBus({ link, bury, log }) };
  t = await startTestEngine({ tools: [], carrier });
  await t.engine.tools.upsertTool("demo", definition);
  gateway = await createNatsGateway({ engine: t.engine, link, log: silentLog });
  legacy = await server.connect("legacy");
});
afterAll(async () => {
  await legacy?.[Symbol.asyncDispose]();
  await gateway?.stop();
  await t?.[Symbol.asyncDispose]();
  await link?.close();
  await server?.[Symbol.asyncDispose]();
});

test("[PAYLOAD-1] [SEE-16] a program written from the older guide serves a tool, from the first command that came before it did", async () => {
  const early = await dispatch();
  const commandOf = async () =>
    t.engine.calls.waitingCommand(await t.engine.calls.get({ projectId: "demo", toolCallId: early.toolCallId }));
  // No service listens yet: the command stays in the outbox, where `why` finds it.
  await expect.poll(commandOf).toMatchObject({ tries: expect.any(Number), dueAt: expect.any(Date) });
  await using service = await startService();
  const commands = legacy.subscribe("cg.v1r3.demo.*.cmd.tool.legacy.>");
  const { toolCallId } = await t.engine.calls.call(
    { projectId: "demo", toolName: "count_vowels", arguments: HELLO },
    30_000,
  );
  const view = await t.engine.calls.get({ projectId: "demo", toolCallId });
  expect(view, service.err()).toMatchObject({ status: "success", settledBy: "tool.legacy" });
  const [card] = await t.engine.cards.getCards("demo", [view.resultCardId ?? ""]);
  expect(card).toMatchObject({ author_id: "tool.legacy", content: { result: { vowels: 3 } } });
  await expect.poll(() => statusOf(early), { timeout: 20_000 }).toBe("success");
  // The result may come before the plane has noted that the command was taken.
  await expect.poll(() => commandOf(), { timeout: 20_000 }).toBeUndefined();

  const command = commands.find(({ payload }) => payload.includes(toolCallId));
  expect(JSON.parse(command?.payload ?? "{}")).toEqual({
    agent_id: view.agentId,
    agent_turn_id: view.agentTurnId,
    turn_epoch: 0,
    tool_call_id: toolCallId,
    step_id: view.stepId,
    tool_call_card_id: view.callCardId,
    tool_name: "count_vowels",
    after_execution: "suspend",
  });
  const names = Object.keys(command?.headers ?? {}).filter((name) => !name.startsWith("Nats-"));
  expect(names.sort()).toEqual(["CG-Msg-Type", "CG-Sender", "CG-Timestamp", "CG-Version", "traceparent"]);
});

test("[PAYLOAD-2] the version makes the service a plain one; another version is refused, and so is a lease", async () => {
  const tool = await t.engine.tools.findTool("demo", "count_vowels");
  expect(tool?.definition.options).toEqual({ service: "plain" });
  const register = (more: Fields) => t.engine.tools.upsertTool("demo", { ...definition, tool_name: "other", ...more });
  await expect(register({ options: { service: "leased" } })).rejects.toMatchObject({ code: "bad_request" });
  const older = definition.target_subject.replace("v1r3", "v1r2");
  await expect(register({ target_subject: older })).rejects.toMatchObject({ code: "bad_request" });
});

describe("identity in a payload", () => {
  let call: CallFacts;
  let other: CallFacts;
  let cardId: string;

  const identityOf = (facts: CallFacts): Fields => ({
    agent_id: facts.agentId,
    agent_turn_id: facts.agentTurnId,
    turn_epoch: facts.turnEpoch,
    tool_call_id: facts.toolCallId,
    step_id: facts.stepId,
  });
  const ask = async (
    operation: string,
    body: Fields,
    headers: Readonly<Record<string, string>> = {},
    place = "cg.v1r3.demo.public.rpc.gateway.legacy",
  ) => readAnswer(await legacy.request(`${place}.${operation}`, JSON.stringify(body), { headers }));
  const resultCard = (facts: CallFacts, id: string, more: Fields = {}): Fields => ({
    card_id: id,
    project_id: "demo",
    type: "tool.result",
    content: {
      __type__: "ToolResultContent",
      status: "success",
      after_execution: "suspend",
      result: { vowels: 3 },
      error: null,
    },
    created_at: "2026-11-16T00:00:00.000Z",
    author_id: "tool.legacy",
    metadata: {
      ...facts.lineage,
      agent_turn_id: facts.agentTurnId,
      tool_call_id: facts.toolCallId,
      function_name: "count_vowels",
      role: "tool",
    },
    tool_call_id: facts.toolCallId,
    ...more,
  });
  const callback = (): Fields => ({
    ...identityOf(call),
    status: "success",
    after_execution: "suspend",
    tool_result_card_id: cardId,
  });

  beforeAll(async () => {
    [call, other] = await Promise.all([dispatch(), dispatch()]);
    cardId = `card-${call.toolCallId}`;
    expect((await ask("put_card", resultCard(call, cardId))).status).toBe(201);
  });

  const forged: readonly (readonly [string, Fields])[] = [
    ["another agent", { agent_id: "boss" }],
    ["the agent in another case", { agent_id: "SYS.API" }],
    ["another turn", { agent_turn_id: "turn_of_another" }],
    ["a later epoch", { turn_epoch: 1 }],
    ["an epoch that is not a number", { turn_epoch: "first" }],
    ["another step", { step_id: "step_of_another" }],
    ["a call that does not exist", { tool_call_id: "tc_of_nobody" }],
    ["another project than the subject's", { project_id: "elsewhere" }],
    ["another channel than the subject's", { channel_id: "private" }],
    ["another trace", { trace_id: "3".repeat(32) }],
    ["another depth", { recursion_depth: 7 }],
    ["an agent that is an object", { agent_id: { id: "boss" } }],
    ["an inline result", { result: { vowels: 3 } }],
  ];
  const lacking: typeof forged = ["agent_id", "agent_turn_id", "turn_epoch", "tool_call_id"].map((field) => [
    `no ${field} at all`,
    { [field]: null },
  ]);
  test.each([
    ...forged.map((one) => ["[PAYLOAD-3]", ...one] as const),
    ...lacking.map((one) => ["[UTP-D27-3]", ...one] as const),
  ])("%s a report with %s is refused and settles nothing", async (_rule, _, more) => {
    const { status, error } = await ask("report", { ...callback(), ...more });
    expect({ status, error }).toMatchObject({ error: { code: expect.any(String) } });
    expect(status).toBeLessThan(500);
    expect(await statusOf(call)).toBe("queued");
  });

  test("[PAYLOAD-3] a header that contradicts the payload is refused", async () => {
    const { error } = await ask("report", callback(), { "CG-Agent-Id": "boss" });
    expect(error?.code).toBe("protocol_violation");
    expect(await statusOf(call)).toBe("queued");
  });

  test("[PAYLOAD-3] the call of another is refused, with its card or with ours", async () => {
    expect((await ask("report", { ...callback(), ...identityOf(other) })).error?.code).toBe("protocol_violation");
    expect((await ask("get_card", { ...identityOf(call), agent_turn_id: other.agentTurnId })).error?.code).toBe(
      "protocol_violation",
    );
    const mixed = resultCard(call, "card-mixed", { tool_call_id: other.toolCallId });
    expect((await ask("put_card", mixed)).error?.code).toBe("protocol_violation");
    expect(await statusOf(other)).toBe("queued");
  });

  test("[PAYLOAD-4] the actor is the NATS user's: it can ask neither as another service nor for another operation", async () => {
    const as = (place: string) => ask("report", callback(), {}, place);
    await expect(as("cg.v1r3.demo.public.rpc.gateway.text")).rejects.toThrow(/Permissions Violation/i);
    await expect(ask("settle", callback())).rejects.toThrow(/Permissions Violation/i);
    const foreign = resultCard(call, "card-foreign", { author_id: "tool.text" });
    expect((await ask("put_card", foreign)).error?.code).toBe("protocol_violation");
  });

  test("[PAYLOAD-5] the true identity settles the call; what comes later changes nothing", async () => {
    const answer = await ask("report", { ...callback(), step_id: null, note: "fields that are not known are ignored" });
    expect(answer.body).toMatchObject({ tool_result_card_id: cardId, idempotent: false });
    expect(await statusOf(call)).toBe("success");
    expect((await ask("report", callback())).body).toMatchObject({ idempotent: true });
    const late = resultCard(call, "card-late", {});
    expect((await ask("put_card", late)).error?.code).toBe("already_settled");
  });
});
