// What was read, called and started with tokens that should not have: each attack, from outside.

import { randomUUID } from "node:crypto";
import type { Engine } from "@toolplane/engine";
import { createThoughtCard } from "@toolplane/protocol/agents";
import { meddle, resultFor, withClient } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEvents } from "./event-reader.ts";
import { type Belongings, startWorld, type World } from "./matrix/world.ts";

let world: World;
let anns: Belongings;
let bobs: Belongings;
const P = "demo";

beforeAll(async () => {
  world = await startWorld();
  anns = world.of(P, "ann");
  bobs = world.of(P, "bob");
});
afterAll(() => world[Symbol.asyncDispose]());

const token = (name: string): string => world.tokens.get(`${P} ${name}`) ?? expect.unreachable(name);
const send = (who: string, method: string, path: string, body?: unknown) =>
  world.http.send(method, `/projects/${P}${path}`, body, { token: token(who) });

/** A turn of `agentId` that a step of another turn asked for, as the project manager starts them. */
const delegate = (
  agentId: string,
  from: { agentId: string; agentTurnId: string },
  more: Partial<Pick<Parameters<Engine["turns"]["spawn"]>[0], "outputBoxId" | "context">> = {},
) =>
  world.http.t.engine.turns.spawn({
    projectId: P,
    agentId,
    sourceAgentId: "sys.pmo",
    lineage: { ...from, stepId: "step_1" },
    context: { instruction: "help" },
    ...more,
  });

/** Of the answers about boxes and cards. */
interface Shown {
  readonly card_ids?: readonly string[];
  readonly missing_ids?: readonly string[];
  readonly boxes?: readonly { readonly card_ids: readonly string[]; readonly card_count: number }[];
}

describe("what was given and what was started", () => {
  test("[SEC-own-given] a card of another that was put into an agent's context is shown to it, and no other", async () => {
    const { engine } = world.http.t;
    const given = await engine.turns.spawn({
      projectId: P,
      agentId: "ann",
      sourceAgentId: "sys.api",
      context: { instruction: "read this", inheritBoxIds: [bobs.box] },
    });
    expect((await send("agent ann", "GET", `/boxes/${given.contextBoxId}/cards`)).status).toBe(200);
    expect((await send("agent ann", "GET", `/cards/${bobs.card}`)).status).toBe(200);
    for (const path of [`/boxes/${bobs.box}`, `/cards/${bobs.resultCard}`, `/turns/${bobs.turn}`])
      expect([path, (await send("agent ann", "GET", path)).status]).toEqual([path, 403]);
  });

  test("[SEC-own-started] an agent sees what came of its turns, however far down, and no other's", async () => {
    const child = await delegate("helper", { agentId: "ann", agentTurnId: anns.turn });
    const grandchild = await delegate("helper", { agentId: "helper", agentTurnId: child.agentTurnId });
    for (const { agentTurnId, contextBoxId } of [child, grandchild])
      for (const path of [`/turns/${agentTurnId}`, `/boxes/${contextBoxId}`]) {
        expect([path, (await send("agent ann", "GET", path)).status]).toEqual([path, 200]);
        expect([path, (await send("agent bob", "GET", path)).status]).toEqual([path, 403]);
      }
    const events = await openEvents(world.http, token("agent ann"), { "last-event-id": "0-0" });
    expect(await events.until(child.agentTurnId)).not.toContain(bobs.turn);
    await events.close();
  });

  test("[SEC-own-reused] a box that a started turn shares with earlier ones shows the starter its own turns' cards", async () => {
    const { engine } = world.http.t;
    // The helper has worked for bob before; ann's work goes into the same box, and a clone begins with all that is in it.
    const shared = await delegate("helper", { agentId: "bob", agentTurnId: bobs.turn });
    expect((await send("operator", "POST", `/turns/${shared.agentTurnId}/stop`, {})).status).toBe(200);
    const more = { outputBoxId: shared.outputBoxId };
    const forAnn = await delegate("helper", { agentId: "ann", agentTurnId: anns.turn }, more);
    const say = async (turn: { agentTurnId: string }, text: string) => {
      const origin = { cardId: randomUUID(), projectId: P, createdAt: "2026-01-01T00:00:00.000Z", authorId: "helper" };
      const card = createThoughtCard({ ...origin, agentTurnId: turn.agentTurnId, text });
      await engine.cards.putCards(P, [card]);
      await meddle(world.http.t, "appendToBox", [P, shared.outputBoxId, card.card_id]);
      return card.card_id;
    };
    const [earlier, later] = [await say(shared, "secret of bob"), await say(forAnn, "for ann")];
    const inheriting = { context: { instruction: "go on", inheritBoxIds: [shared.outputBoxId] } };
    const clone = await delegate("helper", { agentId: "ann", agentTurnId: anns.turn }, inheriting);

    const texts: string[] = [];
    const read = async (method: string, path: string, body?: unknown) => {
      const answer = await send("agent ann", method, path, body);
      expect([path, answer.status]).toEqual([path, 200]);
      texts.push(JSON.stringify(answer.body));
      return answer.body as unknown as Shown;
    };
    for (const box of [shared.outputBoxId, clone.contextBoxId]) {
      expect((await read("GET", `/boxes/${box}`)).card_ids).toContain(later);
      await read("GET", `/boxes/${box}/cards`);
      const batch = await read("POST", "/boxes/batch", { box_ids: [box], hydrate: true });
      expect(batch.boxes?.[0]?.card_count).toBe(batch.boxes?.[0]?.card_ids.length);
    }
    expect((await read("POST", "/cards/batch", { card_ids: [earlier, later] })).missing_ids).toEqual([earlier]);
    for (const turn of [forAnn, clone]) await read("GET", `/turns/${turn.agentTurnId}`);
    const shown = texts.join("\n");
    expect([shown.includes(earlier), shown.includes("secret of bob"), shown.includes("for ann")]).toEqual([
      // Once, in the list of what is missing.
      true,
      false,
      true,
    ]);
    expect(texts.filter((text) => text.includes(earlier))).toHaveLength(1);
    expect((await send("agent ann", "GET", `/cards/${earlier}`)).status).toBe(403);
    expect((await send("agent bob", "GET", `/cards/${later}`)).status).toBe(403);
    // Neither does a turn of its own read it to the agent.
    for (const box of [shared.outputBoxId, clone.contextBoxId]) {
      const asked = { instruction: "read it to me", context_box_id: box };
      expect((await send("agent ann", "POST", "/agents/ann/turns", asked)).status).toBe(403);
    }
    // The helper was given both, and a person sees everything.
    const { secret } = await engine.tokens.create({ role: "agent", projectId: P, actorId: "helper" });
    const path = `/projects/${P}/boxes/${shared.outputBoxId}`;
    for (const whole of [secret, token("viewer")])
      expect((await world.http.send("GET", path, undefined, { token: whole })).body).toMatchObject({
        card_ids: expect.arrayContaining([earlier, later]),
      });
  });

  test("[SEC-own-begun] an agent that begins a turn with a box gets what is in it then, and not what comes into it later", async () => {
    const { engine } = world.http.t;
    const forAnn = await delegate("helper", { agentId: "ann", agentTurnId: anns.turn });
    const box = forAnn.outputBoxId;
    const asked = { context_box_id: box, correlation_id: "begun with a box" };
    const begun = await send("agent ann", "POST", "/agents/ann/turns", asked);
    expect(begun.status).toBe(202);
    // Asked again, because the answer was lost, it is the same turn.
    const again = await send("agent ann", "POST", "/agents/ann/turns", asked);
    expect(again.body).toMatchObject({ agent_turn_id: begun.body.agent_turn_id, idempotent: true });
    // Later the helper works for bob, into the same box.
    expect((await send("operator", "POST", `/turns/${forAnn.agentTurnId}/stop`, {})).status).toBe(200);
    const forBob = await delegate("helper", { agentId: "bob", agentTurnId: bobs.turn }, { outputBoxId: box });
    const origin = { cardId: randomUUID(), projectId: P, createdAt: "2026-01-01T00:00:00.000Z", authorId: "helper" };
    const card = createThoughtCard({ ...origin, agentTurnId: forBob.agentTurnId, text: "secret of bob" });
    await engine.cards.putCards(P, [card]);
    await meddle(world.http.t, "appendToBox", [P, box, card.card_id]);
    const shown = (await send("agent ann", "GET", `/boxes/${box}`)).body as unknown as Shown;
    expect(shown.card_ids).not.toContain(card.card_id);
    expect((await send("agent ann", "GET", `/cards/${card.card_id}`)).status).toBe(403);
    const begunWith = (begun.body as unknown as { context_box_id: string }).context_box_id;
    expect(begunWith).not.toBe(box);
    expect((await send("agent ann", "GET", `/boxes/${begunWith}/cards`)).status).toBe(200);
  });

  test("[SEC-own-begun] what a turn begins with is the turn's own, so that it is forgotten with the turn", async () => {
    const forAnn = await delegate("helper", { agentId: "ann", agentTurnId: anns.turn });
    const boxes = () =>
      withClient(world.http.t, async (client) => {
        const { rows } = await client.query<{ box_id: string }>(
          `select b.box_id from cards.boxes b where not exists (select from state.turns t
             where b.box_id = t.context_box_id and t.context_owned or b.box_id = t.output_box_id and t.output_owned)`,
        );
        return rows.length;
      });
    const before = await boxes();
    const begin = async (body: object) => {
      const asked = { context_box_id: forAnn.outputBoxId, ...body };
      return (await send("agent ann", "POST", "/agents/ann/turns", asked)).status;
    };
    expect(await begin({ correlation_id: "own box" })).toBe(202);
    expect(await begin({ correlation_id: "own box" })).toBe(202);
    expect(await begin({ instruction: "go on", correlation_id: "own box" })).toBe(409);
    expect(await begin({ instruction: "go on" })).toBe(202);
    expect(await boxes()).toBe(before);
  });

  test("[SEC-own-begun] an agent continues no turn into whose boxes others have written since", async () => {
    const { engine } = world.http.t;
    const forAnn = await delegate("helper", { agentId: "ann", agentTurnId: anns.turn });
    expect((await send("operator", "POST", `/turns/${forAnn.agentTurnId}/stop`, {})).status).toBe(200);
    const go = { instruction: "go on", continue: forAnn.agentTurnId };
    expect((await send("agent ann", "POST", "/agents/helper/turns", go)).status).toBe(202);
    const more = { outputBoxId: forAnn.outputBoxId };
    const forBob = await delegate("helper", { agentId: "bob", agentTurnId: bobs.turn }, more);
    const origin = { cardId: randomUUID(), projectId: P, createdAt: "2026-01-01T00:00:00.000Z", authorId: "helper" };
    const card = createThoughtCard({ ...origin, agentTurnId: forBob.agentTurnId, text: "secret of bob" });
    await engine.cards.putCards(P, [card]);
    await meddle(world.http.t, "appendToBox", [P, forAnn.outputBoxId, card.card_id]);
    expect((await send("agent ann", "POST", "/agents/helper/turns", go)).status).toBe(403);
    expect((await send("operator", "POST", "/agents/helper/turns", go)).status).toBe(202);
  });

  test("[INV-I12-T1] an agent cannot take a correlation away from another, and is told nothing of the other's turn", async () => {
    const asked = { instruction: "go", correlation_id: "order-7" };
    const made: unknown[] = [];
    for (const role of ["agent bob", "agent ann", "operator"] as const) {
      const { status, body } = await send(role, "POST", "/agents/helper/turns", asked);
      expect([role, status]).toEqual([role, 202]);
      made.push(body.agent_turn_id);
    }
    expect(new Set(made).size).toBe(3);
    expect((await send("agent ann", "POST", "/agents/helper/turns", asked)).body.agent_turn_id).toBe(made[1]);
  });

  test("[SEC-own-events] parts of another agent's running call pass by an agent's stream", async () => {
    const { engine } = world.http.t;
    const events = await openEvents(world.http, token("agent ann"));
    await events.until(": connected");
    const say = (toolCallId: string, word: string) =>
      engine.emitParts({ projectId: P, toolCallId }, [{ index: 0, part: { word } }]);
    await say(bobs.running, "bobs-part");
    await say(anns.running, "anns-part");
    expect(await events.until("anns-part")).not.toContain("bobs-part");
    await events.close();
  });
});

describe("what a profile allows", () => {
  test.each([
    ["POST", "/calls", { tool_name: "hidden" }],
    ["POST", "/calls", { tool_name: "hidden", agent_id: "ann" }],
    ["POST", "/calls", { tool_name: "submit_result" }],
  ])("[SEC-own-tools] %s %s %j is refused to an agent whose profile does not list the tool", async (...asked) => {
    const [method, path, body] = asked;
    const answer = await send("agent ann", method, path, body);
    expect([answer.status, answer.body.error.code]).toEqual([403, "auth_failed"]);
    expect(answer.body.error.message).toContain("its profile plain does not allow it");
  });

  test("[SEC-own-tools] a batch refuses the tool it may not use, and makes the other call", async () => {
    const { body } = await send("agent ann", "POST", "/calls/batch", [{ tool_name: "hidden" }, { tool_name: "safe" }]);
    expect(body.items.map(({ error, status }) => error?.code ?? status)).toEqual(["auth_failed", "queued"]);
  });

  test("[SEC-own-tools] a tool that is taken out of the profile is refused from then on", async () => {
    const { engine } = world.http.t;
    const profile = { name: "brief", worker_target: "crew", llm_config: { provider: "script", script: { steps: [] } } };
    await engine.profiles.upsertProfile(P, { ...profile, allowed_tools: ["safe"] });
    await engine.agents.upsertAgent(P, { agent_id: "dora", profile_name: "brief" });
    const { secret } = await engine.tokens.create({ role: "agent", projectId: P, actorId: "dora" });
    const call = async () =>
      (await world.http.send("POST", `/projects/${P}/calls`, { tool_name: "safe" }, { token: secret })).status;
    expect(await call()).toBe(202);
    await engine.profiles.upsertProfile(P, { ...profile, allowed_tools: [] });
    await engine.agents.upsertAgent(P, { agent_id: "dora", profile_name: "brief" });
    expect(await call()).toBe(403);
  });

  test("[SEC-own-delegation] an agent starts turns of its own and of those its policy names, and of no others", async () => {
    const start = (agent: string, more: object = {}) =>
      send("agent ann", "POST", `/agents/${agent}/turns`, { instruction: "go", ...more });
    expect((await start("ann")).status).toBe(202);
    expect((await start("helper")).status).toBe(202);
    const refused = await start("bob");
    expect([refused.status, refused.body.error.code]).toEqual([403, "auth_failed"]);
    expect(refused.body.error.message).toContain("the delegation_policy does not allow profile plain");
    expect((await start("nobody")).status).toBe(404);
  });

  test("[SEC-own-delegation] another's box is not read by giving it to a turn of one's own", async () => {
    const start = (boxId: string) =>
      send("agent ann", "POST", "/agents/ann/turns", { instruction: "read it to me", context_box_id: boxId });
    const answer = await start(bobs.box);
    // It was given bob's card above, in a box of its own; bob's box itself is still bob's.
    expect([answer.status, answer.body.error?.code]).toEqual([403, "auth_failed"]);
    expect((await start(anns.box)).status).toBe(202);
  });
});

describe("the cards of a tool service", () => {
  test("[SEC-own-held] a tool's token reads the card of a call while it is held, and no other card", async () => {
    const { engine } = world.http.t;
    expect((await send("tool", "GET", `/cards/${anns.card}`)).status).toBe(403);
    expect((await send("tool", "GET", `/calls/${anns.running}/card`)).status).toBe(200);
    expect((await send("tool", "GET", `/calls/${anns.foreign}/card`)).status).toBe(403);
    const over = await send("tool", "GET", `/calls/${anns.call}/card`);
    expect([over.status, over.body.error.code]).toEqual([409, "lease_lost"]);
    const made = await send("agent bob", "POST", "/calls", { tool_name: "safe" });
    const waiting = await send("tool", "GET", `/calls/${made.body.tool_call_id}/card`);
    expect([waiting.status, waiting.body.error.message]).toEqual([409, expect.stringContaining("claim it first")]);
    const claimed = await engine.calls.claim({ projectId: P, target: "test", holder: "x", max: 100 }, 0);
    expect((await send("tool", "GET", `/calls/${made.body.tool_call_id}/card`)).status).toBe(200);
    for (const call of claimed) await engine.calls.settle(resultFor(call));
  });
});

describe("a token that ends", () => {
  const make = (more: { readonly ttlSeconds?: number; readonly role?: "tool" | "viewer" } = {}) => {
    const { role = "viewer", ttlSeconds } = more;
    const targets = role === "tool" ? ["quiet"] : undefined;
    return world.http.t.engine.tokens.create({ role, projectId: P, targets, ttlSeconds });
  };

  test("[SEC-own-revoked] revoking a token ends its open stream, also when another process revokes it", async () => {
    const elsewhere = await world.http.t.another();
    for (const tokens of [world.http.t.engine.tokens, elsewhere.tokens]) {
      const { token: made, secret } = await make();
      const events = await openEvents(world.http, secret);
      await events.until(": connected");
      await tokens.revoke(made.tokenId);
      expect(await events.untilEnd()).toContain('event: end\ndata: {"error":{"code":"unauthorized"');
    }
  });

  test("[SEC-own-revoked] a token that expires ends its open stream", async () => {
    const events = await openEvents(world.http, (await make({ ttlSeconds: 2 })).secret);
    // It was open: a token that was over before would be refused.
    await events.until(": connected");
    expect(await events.untilEnd()).toContain('"code":"unauthorized"');
  });

  test("[SEC-own-revoked] a service that waits for work with a revoked token is answered 401, and is given nothing", async () => {
    const { engine } = world.http.t;
    const { token: made, secret } = await make({ role: "tool" });
    const waiting = world.http.send(
      "POST",
      `/projects/${P}/tool-services/quiet/claim`,
      { wait_seconds: 60, holder: "revoked one" },
      { token: secret },
    );
    await expect.poll(() => engine.calls.services(P).map(({ holder }) => holder)).toContain("revoked one");
    await engine.tokens.revoke(made.tokenId);
    expect((await waiting).status).toBe(401);
  });

  test("[SEC-own-revoked] a caller that waits for its result with a revoked token is not shown it", async () => {
    const { engine } = world.http.t;
    const { token: made, secret } = await engine.tokens.create({ role: "operator", projectId: P });
    const waiting = world.http.send(
      "POST",
      `/projects/${P}/calls`,
      { tool_name: "hidden", wait_seconds: 60, idempotency_key: "waits" },
      { token: secret },
    );
    const find = async () => (await engine.calls.list(P, { toolName: "hidden", limit: 1 }))[0];
    await expect.poll(find).toBeDefined();
    await engine.tokens.revoke(made.tokenId);
    expect((await waiting).status).toBe(401);
  });
});
