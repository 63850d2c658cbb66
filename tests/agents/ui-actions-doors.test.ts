// What a person does, by the plane's own operation, over HTTP and from a plain NATS client: one trace from the action to its command and
// acknowledgements, internal tools that allow it, and one outcome however often and under whichever name it is asked for.
// Doors: HTTP, NATS, in process

import { createSubmitAction, startUiActions, UI_WORKER_TARGET } from "@toolplane/agents";
import { createIds, silentLog, systemClock } from "@toolplane/engine";
import { ingress, isRecord, type JsonObject, parseSubject } from "@toolplane/protocol";
import { bootstrapTools } from "@toolplane/protocol/registry";
import { defineTool } from "@toolplane/sdk";
import { createApp, routes } from "@toolplane/server/internal";
import { eventually, resultFor } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NatsGround, openNatsGround } from "../carrier/nats-world.ts";
import { type AgentPlane, openAgentPlane } from "./support/agent-plane.ts";

interface Heard {
  readonly headers: Readonly<Record<string, string>>;
  readonly ack: Readonly<Record<string, unknown>>;
}

const ids = createIds();
const CLICK = defineTool({
  name: "click",
  description: "What a button does",
  parameters: { type: "object", properties: { what: { type: "string" } } } as const,
  retry: "safe",
  options: { ui_allowed: true },
  run: async ({ what }) => (what === "accepted" ? { status: "accepted" } : { clicked: what ?? null }),
});

describe.each(["the plane itself", "HTTP", "NATS"] as const)("actions over %s", (door) => {
  let ground: NatsGround | undefined;
  let plane: AgentPlane;
  let stop: () => Promise<void>;
  const heard: Heard[] = [];
  const answered: Heard[] = [];
  const hear = ({ headers, payload }: { readonly headers: Heard["headers"]; readonly payload: string }) => {
    const ack: unknown = JSON.parse(payload);
    if (isRecord(ack)) heard.push({ headers, ack });
  };

  beforeAll(async () => {
    ground = door === "NATS" ? await openNatsGround() : undefined;
    plane = await openAgentPlane({
      tools: [CLICK],
      ...(ground === undefined ? {} : { engine: { carrier: await ground.carrier() } }),
    });
    const { engine, projectId } = plane;
    const own = bootstrapTools({ bundledTarget: "bundled" });
    await engine.tools.upsertTools(projectId, own, { internal: true });
    await engine.profiles.upsertProfile(projectId, { name: "screen", worker_target: UI_WORKER_TARGET });
    for (const agent_id of ["ann", "bob", "cleo"])
      await engine.agents.upsertAgent(projectId, { agent_id, profile_name: "screen" });
    await plane.startWorker(() => "never asked", { workerTargets: [UI_WORKER_TARGET], lookMs: 200 });
    const actions = await startUiActions({ engine, ids, clock: systemClock, log: silentLog });
    const pattern = "cg.v1r4.*.*.evt.sys.ui.action_ack";
    if (ground !== undefined) await ground.bare.listen(pattern, hear);
    stop = () => actions.stop();
  });
  afterAll(async () => {
    await stop();
    await plane[Symbol.asyncDispose]();
    await ground?.[Symbol.asyncDispose]();
  });

  const actOverHttp = async (agentId: string, payload: JsonObject, headers: Heard["headers"]): Promise<void> => {
    const app = createApp({
      engine: () => plane.engine,
      routes,
      log: silentLog,
      health: async () => ({ ok: true, body: {} }),
      hosts: [],
      draining: new AbortController().signal,
    });
    const { secret } = await plane.engine.tokens.create({ role: "operator", projectId: plane.projectId });
    const response = await app.request(`/projects/${plane.projectId}/agents/${agentId}/actions`, {
      method: "POST",
      headers: { host: "localhost", authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(payload),
    });
    const { error, idempotent, ...ack } = (await response.json()) as JsonObject & { idempotent?: boolean };
    const refused = error as { code: string; detail?: { error_code?: string } } | undefined;
    const { agent_turn_id: _turn, turn_status: _status, ...said } = ack;
    if (refused !== undefined) {
      const error_code = refused.detail?.error_code ?? refused.code;
      answered.push({ headers, ack: { action_id: payload?.action_id, status: "rejected", error_code } });
    } else if (idempotent === true) answered.push({ headers, ack: said });
  };

  /** Returns the trace it was sent in. */
  const act = async (agentId: string, payload: JsonObject, said: Heard["headers"] = {}): Promise<string> => {
    const traceId = ids.traceId();
    const subject = `cg.v1r4.${plane.projectId}.public.cmd.sys.ui.action`;
    const headers = {
      "CG-Agent-Id": agentId,
      "CG-Turn-Id": "turn_screen",
      traceparent: `00-${traceId}-${ids.spanId()}-01`,
      ...said,
    };
    if (ground !== undefined) ground.bare.publish(subject, JSON.stringify(payload), { headers });
    else if (door === "HTTP") await actOverHttp(agentId, payload, headers);
    else {
      const { context, payload: given } = ingress({ subject: parseSubject(subject), headers, payload }, ids);
      const submit = createSubmitAction({ engine: plane.engine, log: silentLog });
      const { ack, turn } = await submit({ context, actionId: String(given.action_id), payload: given });
      // What is told with the turn is an event; everything else is the answer.
      if (turn === undefined || turn.idempotent) answered.push({ headers: context.headers, ack });
    }
    return traceId;
  };
  const events = async (): Promise<readonly Heard[]> =>
    (
      await plane.engine.db.query<Heard>({
        name: "test.acks",
        text: "select headers::json as headers, payload::json as ack from bus.messages where subject like '%.action_ack' order by id",
      })
    ).slice();
  const acks = async (actionId: string, count: number): Promise<readonly Heard[]> =>
    (await eventually(async () => {
      const all = ground === undefined ? [...(await events()), ...answered] : heard;
      const own = all.filter(({ ack }) => ack.action_id === actionId);
      return own.length >= count ? own : undefined;
    })) ?? [];
  const refusals = Array(4).fill("rejected");
  const deadLetters = async (): Promise<number> => (await plane.engine.deadLetters.list(plane.projectId)).length;
  const traceOf = ({ headers }: Heard): string | undefined => headers.traceparent?.slice(3, 35);

  test("[UTP-13.1-D1] one trace from the action to its turn, its command and both acknowledgements", async () => {
    const traceId = await act("ann", { action_id: "t1", tool_name: "click", args: { what: "x" } });
    expect((await acks("t1", 2)).map(traceOf)).toEqual([traceId, traceId]);
    const [turn] = (await plane.engine.turns.list(plane.projectId, { agentId: "ann" })).items;
    const [call] = await plane.engine.calls.list(plane.projectId, { agentId: "ann" });
    expect([turn?.traceId, call?.traceId]).toEqual([traceId, traceId]);
    expect(call?.headers.traceparent?.slice(3, 35)).toBe(traceId);
  });

  test("[UTP-13.1-D5] the acknowledgement that an action is accepted has the epoch of its turn", async () => {
    await act("ann", { action_id: "e1", tool_name: "click", args: { what: "x" } });
    const [accepted] = await acks("e1", 2);
    const [call] = await plane.engine.calls.list(plane.projectId, { agentId: "ann" });
    expect(call?.turnEpoch).toBeGreaterThan(0);
    expect(accepted?.headers["CG-Turn-Epoch"]).toBe(String(call?.turnEpoch));
  });

  test("[UTP-13.1-D2] an internal tool that is ui_allowed is admitted, one that is not is refused as such", async () => {
    const args = { target_strategy: "new", target_ref: "screen", instruction: "go on" };
    await act("bob", { action_id: "i1", tool_name: "delegate_async", args });
    expect((await acks("i1", 1))[0]?.ack).toMatchObject({ status: "accepted" });
    const { engine, projectId } = plane;
    const leased = await eventually(async () => {
      const [one] = await engine.calls.claim({ projectId, target: "pmo", holder: "pmo", max: 1 });
      return one;
    });
    if (leased === undefined) throw new RangeError("the command did not come");
    await engine.calls.settle(resultFor(leased, { status: "success", result: { status: "accepted", agent_id: "x" } }));
    expect((await acks("i1", 2))[1]?.ack).toMatchObject({
      status: "accepted",
      tool_result_card_id: expect.any(String),
    });
    await act("bob", { action_id: "i2", tool_name: "fork_join", args: {} });
    expect((await acks("i2", 1))[0]?.ack).toMatchObject({ status: "rejected", error_code: "ui_not_allowed" });
  });

  test("[UTP-13.1-D3] a repeated action hears the outcome of the first, with its card", async () => {
    const payload = { action_id: "r1", tool_name: "click", args: { what: "accepted" } };
    await act("cleo", payload);
    const first = (await acks("r1", 2))[1]?.ack;
    expect(first).toMatchObject({ status: "accepted", tool_result_card_id: expect.any(String) });
    const again = await act("cleo", payload);
    const [, , third] = await acks("r1", 3);
    expect(third?.ack).toEqual(first);
    expect(third && traceOf(third)).toBe(again);
  });

  test("[INV-I12-T1] two agents may have actions and messages of the same name; each hears of its own", async () => {
    const payload = { action_id: "same", message_id: "same", tool_name: "click", args: { what: "x" } };
    const own = async (agentId: string, count: number) =>
      (await acks("same", count)).filter(({ ack }) => ack.agent_id === agentId);
    await act("ann", payload);
    const first = (await own("ann", 2)).map(({ ack }) => ack);
    expect(first).toMatchObject([{ status: "accepted" }, { tool_result_card_id: expect.any(String) }]);
    await act("bob", payload);
    const second = (await own("bob", 4)).map(({ ack }) => ack);
    expect(second).toMatchObject([{ status: "accepted" }, { tool_result_card_id: expect.any(String) }]);
    expect(second[1]?.tool_result_card_id).not.toBe(first[1]?.tool_result_card_id);
  });

  test("[DOOR-1-6] headers cannot choose what the plane counts and mints; the turn that a person saw is not judged", async () => {
    const payload = { tool_name: "click", args: {} };
    const before = (await plane.engine.turns.list(plane.projectId, { agentId: "ann" })).items.length;
    for (const [index, said] of [
      { "CG-Recursion-Depth": "5" },
      { "CG-Step-Id": "step_1" },
      { "CG-Tool-Call-Id": "call_1" },
      { "CG-Parent-Agent-Id": "bob" },
      { "CG-Parent-Turn-Id": "turn_1" },
      { "CG-Parent-Step-Id": "step_1" },
    ].entries()) {
      await act("ann", { ...payload, action_id: `h${index}` }, said as unknown as Heard["headers"]);
      const [heardAck] = await acks(`h${index}`, 1);
      expect([said, heardAck?.ack]).toEqual([said, expect.objectContaining({ error_code: "protocol_violation" })]);
    }
    expect((await plane.engine.turns.list(plane.projectId, { agentId: "ann" })).items).toHaveLength(before);
    await act("ann", { ...payload, action_id: "h9" }, { "CG-Recursion-Depth": "0", "CG-Turn-Epoch": "7" });
    expect((await acks("h9", 1))[0]?.ack).toMatchObject({ status: "accepted" });
  });

  test("[DOOR-9-1] a payload that is not an object is not an action: nothing is made, and the next action is carried out", async () => {
    const count = async () => (await plane.engine.turns.list(plane.projectId, { agentId: "bob" })).items.length;
    const [before, dead] = [await count(), await deadLetters()];
    const none = [[1], null, "text", 7] as unknown as readonly JsonObject[];
    for (const payload of none) await act("bob", payload);
    if (ground === undefined) expect(answered.slice(-none.length).map(({ ack }) => ack.status)).toEqual(refusals);
    else await eventually(async () => (await deadLetters()) === dead + none.length);
    expect(await count()).toBe(before);
    await act("bob", { action_id: "n9", tool_name: "click", args: {} });
    expect((await acks("n9", 1))[0]?.ack).toMatchObject({ status: "accepted" });
  });

  test("[UTP-13.1-D4] the same message under another action is the same action; with other arguments it is refused", async () => {
    const payload = { tool_name: "click", args: { what: "once" }, message_id: "m1" };
    await act("cleo", { ...payload, action_id: "m1a" });
    const done = (await acks("m1a", 2))[1]?.ack;
    await act("cleo", { ...payload, action_id: "m1b" });
    expect((await acks("m1b", 1))[0]?.ack).toEqual({ ...done, action_id: "m1b" });
    await act("cleo", { ...payload, action_id: "m1c", args: { what: "twice" } });
    expect((await acks("m1c", 1))[0]?.ack).toMatchObject({ status: "rejected", error_code: "idempotency_conflict" });
    // The name of the action counts as well, whatever message it is said to belong to.
    await act("cleo", { ...payload, action_id: "m1a", message_id: "m2" });
    expect((await acks("m1a", 3))[2]?.ack).toMatchObject({ status: "done", message_id: "m2" });
    const { items } = await plane.engine.turns.list(plane.projectId, { agentId: "cleo" });
    const calls = await plane.engine.calls.list(plane.projectId, { agentId: "cleo" });
    expect([items.length, calls.length]).toEqual([2, 2]);
  });
});
