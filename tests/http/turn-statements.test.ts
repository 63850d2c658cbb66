// What a lone turn with one call costs in statements, as `toolplane up` runs it: the API, a worker and the bundled tools in one
// process, the caller and the tool service over HTTP. Pinned.

import { createFunctionBrain, createWorker, type FunctionAnswer } from "@toolplane/agents";
import { silentLog, systemClock } from "@toolplane/engine";
import { NO_OFFSET, serveBundled } from "@toolplane/server/internal";
import { type AnswerBody, countStatements, eventually, watchService } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";
import { serveClaims } from "./serve-claims.ts";

/** What a turn leaves to be done after its answer is counted with the next one. */
const ROUNDS = 5;
const POOL = "pool";

const startAgents = async ({ t: { engine, projectId } }: HttpStack, end: FunctionAnswer = { text: "done" }) => {
  const tools = { allowed_tools: ["safe"], allowed_internal_tools: ["submit_result"] };
  await engine.profiles.upsertProfile(projectId, { name: "p", worker_target: POOL, ...tools });
  await engine.agents.upsertAgent(projectId, { agent_id: "helper", profile_name: "p" });
  const brain = createFunctionBrain(({ stepNumber }) =>
    stepNumber > 1 ? end : { toolCalls: [{ id: "c", name: "safe", arguments: {} }] },
  );
  const worker = createWorker({ engine, brains: async () => brain, workerTargets: [POOL], lookMs: 600_000 });
  await worker.start();
  const means = { clock: systemClock, random: Math.random, log: silentLog, offset: NO_OFFSET };
  const bundled = serveBundled({ ...means, engine, holder: "bundled", storeBack: () => undefined });
  return {
    async [Symbol.asyncDispose]() {
      await bundled.stop({ drainMs: 0 });
      await worker.stop({ drainMs: 0 });
    },
  };
};

const ask = (http: HttpStack) =>
  http.send("POST", "/projects/demo/agents/helper/turns", { instruction: "go", wait_seconds: 30 });

test("[ARCH-5-Q1] over HTTP a lone turn with one call takes 19 statements, and its answer reads nothing", async () => {
  await using http = await startHttpStack();
  await using _agents = await startAgents(http);
  const { atRest } = watchService(http.t.engine);
  const over = new AbortController();
  const service = serveClaims(http, { ok: true }, over.signal).catch(() => {});
  for (let round = 0; round < 3; round++) expect((await ask(http)).body).toMatchObject({ status: "success" });
  await eventually(() => http.t.engine.doorbell.stats().alone);
  await atRest();
  const counted = countStatements([http.t.engine]);
  const began = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    // A turn that asks for a call before the service waits again costs a claim more.
    await atRest();
    expect((await ask(http)).body).toMatchObject({ status: "success", deliverable: "done" });
  }
  // Services look by themselves once a second: the one over HTTP with two statements, and the bundled tools with one.
  const ownLooks = 3 * (1 + Math.floor((performance.now() - began) / 1_000));
  const names = counted.names();
  const looksOf = (names: readonly string[]): number => names.filter((name) => /claim|projects/.test(name)).length;
  expect(names.length - looksOf(names), names.join(" ")).toBeLessThanOrEqual(19 * ROUNDS);
  // The service that waits gets the call with its dispatch: no look for it, no claim.
  expect(looksOf(names), names.join(" ")).toBeLessThanOrEqual(ownLooks);
  expect(names.filter((name) => /ended|views|cards\.read|stream|notify/.test(name))).toEqual([]);
  over.abort();
  await service;
});

test("[ARCH-5-Q1] a turn that ended here is answered as a read answers it", async () => {
  await using http = await startHttpStack();
  const submit = { id: "s", name: "submit_result", arguments: { result: { b: 1, a: 2 } } };
  await using _agents = await startAgents(http, { toolCalls: [submit] });
  const over = new AbortController();
  const service = serveClaims(http, { ok: true }, over.signal).catch(() => {});
  const { idempotent, ...answered } = (await ask(http)).body as AnswerBody & { readonly idempotent?: boolean };
  const read = await http.send("GET", `/projects/demo/turns/${answered.agent_turn_id}`);
  expect(idempotent).toBe(false);
  expect(read.body).toMatchObject(answered);
  // The members of the stored card, in their order, though nothing was read back.
  expect(JSON.stringify(answered.deliverable)).toBe('{"a":2,"b":1}');
  over.abort();
  await service;
});
