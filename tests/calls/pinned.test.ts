// Rolling out a tool: calls that are pinned to a definition, and services that run different ones. One engine for all.

import type { LeasedCall } from "@toolplane/engine";
import { countStatements, eventually, startTestEngine, type TestEngine, toolUpload, until } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const WAIT_MS = 60_000;
const SERVICE = { source: "service:test" };
let t: TestEngine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
});
afterAll(() => t[Symbol.asyncDispose]());

interface Version {
  readonly name: string;
  readonly target?: string;
  readonly description?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

const upload = ({ description, ...seed }: Version): Record<string, unknown> => ({
  ...toolUpload(seed),
  ...(description === undefined ? {} : { description }),
});

/** Registers as a tool service does; gives the hash of what was sent. */
const register = async (version: Version): Promise<string> =>
  (await t.engine.tools.upsertTool(t.projectId, upload(version), SERVICE)).definitionHash;

const ask = (toolName: string, more: object = {}) =>
  t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {}, agentId: "sys.anna", ...more });

const claim = (target: string, definitions?: readonly string[], max = 9): Promise<readonly LeasedCall[]> =>
  t.engine.calls.claim({ projectId: t.projectId, target, holder: `of ${definitions}`, max, definitions });

const idsOf = (calls: readonly LeasedCall[]): string[] => calls.map(({ facts }) => facts.toolCallId);

test("[ENG-pin-1] a pinned call is claimed only by a service that names its definition", async () => {
  const target = "a";
  const first = await register({ name: "a_strict", target, options: { pin: "strict" } });
  await ask("a_strict");
  const second = await register({ name: "a_strict", target, options: { pin: "strict" }, description: "Newer" });
  await ask("a_strict");
  expect(await claim(target)).toEqual([]);
  expect(await claim(target, [])).toEqual([]);
  expect(await claim(target, ["no hash", "f".repeat(64)])).toEqual([]);
  const [older] = await claim(target, [first]);
  const [newer] = await claim(target, [second]);
  expect([older, newer].map((call) => call?.facts.definitionHash)).toEqual([first, second]);
  expect(await claim(target, [first, second])).toEqual([]);
});

test("[ENG-pin-1] a pinned call has no result of a service that holds no lease on it", async () => {
  const target = "unleased";
  const hash = await register({ name: "unleased_strict", target, options: { pin: "strict" } });
  const { toolCallId } = await ask("unleased_strict");
  const key = { projectId: t.projectId, toolCallId };
  const given = { status: "success", result: "forged" } as const;
  const forged = { ...key, actorId: `tool.${target}`, outcome: { given } };
  await expect(t.engine.calls.settle(forged)).rejects.toMatchObject({
    code: "lease_lost",
    message: expect.stringContaining("take it under a lease"),
  });
  const [leased] = await claim(target, [hash]);
  expect(leased?.facts.toolCallId).toBe(toolCallId);
  expect((await t.engine.calls.get(key)).status).toBe("running");
});

test("[ENG-pin-1] of a session the calls behind a pinned call do not overtake it", async () => {
  const target = "b";
  const options = { pin: "strict", session: "agent" };
  const hash = await register({ name: "b_strict", target, options });
  await register({ name: "b_free", target, options: { session: "agent" } });
  await ask("b_strict");
  await ask("b_free");
  expect(await claim(target)).toEqual([]);
  const [pinned] = await claim(target, [hash]);
  expect(pinned?.facts.toolName).toBe("b_strict");
});

test("[ENG-pin-1] a lease on a command that came over a bus is refused to a service that does not name it", async () => {
  const target = "c";
  const hash = await register({ name: "c_strict", target, options: { pin: "strict" } });
  const made = await ask("c_strict");
  const view = await t.engine.calls.get({ projectId: t.projectId, toolCallId: made.toolCallId });
  const asked = { ...view, holder: "on the bus" };
  await expect(t.engine.calls.lease(asked)).rejects.toMatchObject({ code: "lease_lost", detail: { status: "queued" } });
  const leased = await t.engine.calls.lease({ ...asked, definitions: [hash] });
  expect(leased.facts.toolCallId).toBe(made.toolCallId);
});

test("[ENG-pin-1] a person who changes options changes no code: the service runs the calls of both versions", async () => {
  const target = "d";
  const own = await register({ name: "d_tool", target, options: { retry: "safe" } });
  await t.engine.tools.upsertTool(t.projectId, upload({ name: "d_tool", target, options: { pin: "strict" } }));
  const made = await ask("d_tool");
  expect(idsOf(await claim(target, [own]))).toEqual([made.toolCallId]);
  // Other parameters make another version of the code, also when a person applies them.
  const changed = { ...upload({ name: "d_tool", target, options: { pin: "strict" } }), description: "Something else" };
  await t.engine.tools.upsertTool(t.projectId, changed);
  await ask("d_tool");
  expect(await claim(target, [own])).toEqual([]);
});

test("[ENG-pin-1] a resting service is handed the pinned calls it names, and no others", async () => {
  const target = "e";
  const hash = await register({ name: "e_strict", target, options: { pin: "strict" } });
  const over = new AbortController();
  const rest = async (holder: string, definitions: readonly string[]) => {
    const looks = () => t.engine.calls.stats().claim;
    const before = looks()?.items ?? 0;
    const request = { projectId: t.projectId, target, holder, max: 4, definitions };
    const claimed = t.engine.calls.claim(request, WAIT_MS, over.signal);
    await until("its look to be over", () => (looks()?.items ?? 0) > before && looks()?.inFlight === 0, WAIT_MS);
    return { claimed };
  };
  const other = await rest("other", ["f".repeat(64)]);
  expect(await ask("e_strict")).toMatchObject({ status: "queued" });
  over.abort();
  expect(await other.claimed).toEqual([]);
  expect(await claim(target, [hash])).toHaveLength(1);
  // The queue is empty again: the next one goes straight to the service that names it.
  const named = t.engine.calls.claim(
    { projectId: t.projectId, target, holder: "n", max: 4, definitions: [hash] },
    WAIT_MS,
  );
  await until("it rests", () => t.engine.calls.stats().claim?.inFlight === 0, WAIT_MS);
  const made = await ask("e_strict");
  expect(idsOf(await named)).toEqual([made.toolCallId]);
});

test("[ENG-pin-1] a service that waits behind one of another version hears of its own calls", async () => {
  const target = "f";
  const first = await register({ name: "f_strict", target, options: { pin: "strict" } });
  const elsewhere = await t.another();
  const over = new AbortController();
  const wait = (definitions: readonly string[]) =>
    t.engine.calls.claim(
      { projectId: t.projectId, target, holder: `${definitions}`, max: 4, definitions },
      WAIT_MS,
      over.signal,
    );
  const inFront = wait(["f".repeat(64)]);
  const behind = wait([first]);
  await until("both rest", () => t.engine.calls.stats().claim?.inFlight === 0, WAIT_MS);
  const request = { projectId: t.projectId, toolName: "f_strict", arguments: {}, agentId: "sys.anna" };
  const { toolCallId } = await elsewhere.calls.dispatch(request);
  expect(idsOf(await behind)).toEqual([toolCallId]);
  over.abort();
  expect(await inFront).toEqual([]);
});

test("[ENG-pin-1] the plane's own services run every definition", async () => {
  const target = "own";
  await register({ name: "own_strict", target, options: { pin: "strict" } });
  const made = await ask("own_strict");
  const claimed = await t.engine.calls.claimAcross({ target, holder: "bundled", max: 4 });
  expect(idsOf(claimed)).toEqual([made.toolCallId]);
});

test("[ENG-pin-2] calls go first to a service of their definition, and fall back to any service of the target", async () => {
  const target = "g";
  const first = await register({ name: "g_tool", target });
  const older = [await ask("g_tool"), await ask("g_tool")];
  const second = await register({ name: "g_tool", target, description: "Newer" });
  const newer = [await ask("g_tool"), await ask("g_tool")];
  // Both services are known: each has asked for work before.
  for (const definitions of [[first], [second]])
    await t.engine.calls
      .claim({ projectId: t.projectId, target: "g", holder: `${definitions}`, max: 1, definitions })
      .then(async ([call]) => call && t.engine.calls.release({ ...call.facts, leaseId: call.lease.id }));
  expect(idsOf(await claim(target, [second], 2)).sort()).toEqual(newer.map(({ toolCallId }) => toolCallId).sort());
  expect(idsOf(await claim(target, [second], 1))).toHaveLength(1);
  expect(idsOf(await claim(target, [first], 9))).toHaveLength(1);
  expect(older).toHaveLength(2);
});

test("[ENG-pin-3] a service without a pinned tool is served by the same statements, named definitions or not", async () => {
  const target = "h";
  const hash = await register({ name: "h_tool", target });
  // What the registry says about the hash is read once, after the bell of its registration has come.
  await eventually(async () => {
    const counted = countStatements([t.engine]);
    await claim(target, [hash]);
    return !counted.names().includes("tools.find-pins");
  });
  for (const definitions of [undefined, [hash]]) {
    await ask("h_tool");
    const counted = countStatements([t.engine]);
    expect(await claim(target, definitions)).toHaveLength(1);
    expect(counted.names().filter((name) => name !== "notify")).toEqual(["calls.claim"]);
  }
});

test("[ENG-pin-3] pinned calls that no service takes hold up no other call, also not the hand-over", async () => {
  const target = "i";
  await register({ name: "i_strict", target, options: { pin: "strict" } });
  const hash = await register({ name: "i_free", target });
  await ask("i_strict");
  const over = new AbortController();
  const request = { projectId: t.projectId, target, holder: "rests", max: 4, definitions: [hash] };
  const claimed = t.engine.calls.claim(request, WAIT_MS, over.signal);
  await until("it rests", () => t.engine.calls.stats().claim?.inFlight === 0, WAIT_MS);
  const made = await ask("i_free");
  expect(idsOf(await claimed)).toEqual([made.toolCallId]);
});

test("[ENG-pin-4] a service with an older version changes nothing, and a person can go back to it", async () => {
  const target = "k";
  const tool = () => t.engine.tools.getTool(t.projectId, "k_tool");
  const first = await register({ name: "k_tool", target });
  const second = await register({ name: "k_tool", target, description: "Newer" });
  const again = await t.engine.tools.upsertTool(t.projectId, upload({ name: "k_tool", target }), SERVICE);
  expect(again).toMatchObject({ outcome: "older", version: 1, definitionHash: first });
  expect(again.inForce?.definitionHash).toBe(second);
  expect(await tool()).toMatchObject({ version: 2, definitionHash: second });
  // Also when a person has decided about the newer one meanwhile.
  await t.engine.tools.upsertTool(
    t.projectId,
    upload({ name: "k_tool", target, description: "Newer", options: { approval: "required" } }),
  );
  expect(await t.engine.tools.upsertTool(t.projectId, upload({ name: "k_tool", target }), SERVICE)).toMatchObject({
    outcome: "older",
  });
  expect((await tool())?.definition.description).toBe("Newer");
  const back = await t.engine.tools.acceptTool(t.projectId, "k_tool", 1);
  expect(back).toMatchObject({ version: 1, definitionHash: first, accepted: { version: 1 } });
  const newer = upload({ name: "k_tool", target, description: "Newer" });
  expect(await t.engine.tools.upsertTool(t.projectId, newer, SERVICE)).toMatchObject({ outcome: "older" });
  expect(await tool()).toMatchObject({ definitionHash: first });
  // A version that the tool never had is in force at once.
  expect(await t.engine.tools.upsertTool(t.projectId, { ...newer, description: "Newest" }, SERVICE)).toMatchObject({
    outcome: "replaced",
  });
});

test("[ENG-pin-1] a plain service, which names nothing, cannot have a pinned tool", async () => {
  const options = { pin: "strict", service: "plain" };
  await expect(register({ name: "l_tool", target: "l", options })).rejects.toMatchObject({ code: "bad_request" });
});

test("[ENG-pin-1] a pinned call takes no result that was made under another definition", async () => {
  const target = "settled";
  const options = { pin: "strict" };
  const first = await register({ name: "settled_strict", target, options });
  await ask("settled_strict");
  const second = await register({ name: "settled_strict", target, options, description: "Newer" });
  const [call] = await claim(target, [first]);
  const { facts, lease } = call ?? expect.unreachable();
  const key = { projectId: t.projectId, toolCallId: facts.toolCallId };
  const settle = (definitionHash?: string) =>
    t.engine.calls.settle({
      ...key,
      actorId: facts.actorId,
      leaseId: lease.id,
      outcome: { given: { status: "success", result: 1, definitionHash } },
    });
  for (const other of [second, "f".repeat(64)])
    await expect(settle(other)).rejects.toMatchObject({
      code: "definition_changed",
      detail: { pinned: first, served: other },
    });
  const card = {
    card_id: "card_other_definition",
    project_id: t.projectId,
    type: "tool.result",
    author_id: facts.actorId,
    tool_call_id: facts.toolCallId,
    created_at: "2026-11-18T00:00:00.000Z",
    content: { __type__: "ToolResultContent", status: "success", after_execution: "suspend", result: 1, error: null },
    metadata: {
      ...facts.lineage,
      role: "tool",
      tool_call_id: facts.toolCallId,
      agent_turn_id: facts.agentTurnId,
      function_name: "settled_strict",
      definition_hash: second,
    },
  };
  await expect(
    t.engine.calls.putResultCard({ projectId: t.projectId, actorId: facts.actorId, leaseId: lease.id, card }),
  ).rejects.toMatchObject({ code: "definition_changed" });
  expect((await t.engine.calls.get(key)).status).toBe("running");
  expect(await settle(first)).toMatchObject({ status: "success" });
  // A settled call says so, whatever is named.
  await expect(settle(second)).resolves.toMatchObject({ idempotent: true });
});
