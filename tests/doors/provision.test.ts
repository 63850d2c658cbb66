// Section 11.5 of the protocol by a person's action: what is wrong with the arguments of provision_agent has the clause's own
// code, whichever way the action comes.
// Doors: HTTP, NATS

import { createBrainSource, createWorker, startUiActions, UI_WORKER_TARGET } from "@toolplane/agents";
import { createIds, silentLog, systemClock } from "@toolplane/engine";
import type { JsonObject } from "@toolplane/protocol";
import { eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type NatsGround, openNatsGround } from "../carrier/nats-world.ts";
import { requestOver } from "../pmo/pmo-http.ts";
import { type PmoWorld, PROJECT, startPmoWorld } from "../pmo/pmo-world.ts";

const SCREEN = "screen";
const heard: JsonObject[] = [];
let ground: NatsGround;
let world: PmoWorld;
let stop: () => Promise<void>;
let token: string;

beforeAll(async () => {
  ground = await openNatsGround();
  world = await startPmoWorld({ carrier: await ground.carrier() });
  const { engine } = world;
  await engine.profiles.upsertProfile(PROJECT, { name: "Screen", worker_target: UI_WORKER_TARGET });
  await engine.agents.upsertAgent(PROJECT, { agent_id: SCREEN, profile_name: "Screen" });
  token = (await engine.tokens.create({ role: "operator", projectId: PROJECT })).secret;
  const brains = createBrainSource({ secret: () => undefined, clock: systemClock });
  const worker = createWorker({ engine, brains, workerTargets: [UI_WORKER_TARGET], lookMs: 200 });
  await worker.start();
  const actions = await startUiActions({ engine, ids: createIds(), clock: systemClock, log: silentLog });
  const keep = ({ payload }: { readonly payload: string }) => void heard.push(JSON.parse(payload) as JsonObject);
  await ground.bare.listen("cg.v1r4.*.*.evt.sys.ui.action_ack", keep);
  stop = async () => {
    await actions.stop();
    await worker.stop();
  };
});
afterAll(async () => {
  await stop();
  await world[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const overNats = async (payload: JsonObject): Promise<void> => {
  const headers = { "CG-Agent-Id": SCREEN, "CG-Turn-Id": "turn_screen" };
  ground.bare.publish(`cg.v1r4.${PROJECT}.public.cmd.sys.ui.action`, JSON.stringify(payload), { headers });
};

const overHttp = async (payload: JsonObject): Promise<void> => {
  const { status } = await requestOver(world, token, "POST", `/agents/${SCREEN}/actions`, payload);
  expect(status).toBe(202);
};

const CASES: readonly (readonly [JsonObject, string])[] = [
  [{ action: "destroy", agent_id: "w2" }, "invalid_action"],
  [{ action: "ensure" }, "missing_agent_id"],
  [{ action: "derive", agent_id: "w2" }, "missing_derived_from"],
  [{ action: "ensure", agent_id: "w2", tags: "a" }, "invalid_tags"],
  // Metadata that is not an object is refused when the action is admitted (13.1), with the same code.
];

test.each([
  ["NATS", overNats],
  ["HTTP", overHttp],
] as const)("[UTP-11.5-1] an action over %s hears the clause's code", async (door, act) => {
  for (const [index, [args, code]] of CASES.entries()) {
    const action_id = `${door}-${index}`;
    await act({ action_id, tool_name: "provision_agent", args });
    const end = await eventually(async () => {
      await world.serve();
      return heard.find((ack) => ack.action_id === action_id && ack.tool_result_card_id !== undefined);
    });
    expect([args, end]).toEqual([args, expect.objectContaining({ status: "rejected", error_code: code })]);
  }
  expect(await world.engine.agents.getAgent(PROJECT, "w2")).toBeUndefined();
});
