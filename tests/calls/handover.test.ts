// The synchronous match: a call that is dispatched where a service rests is written as leased to it and handed over. Whatever has to
// go through the queue goes through the queue, and no call overtakes another.

import type { EngineOptions, LeasedCall } from "@toolplane/engine";
import type { FaultPoint } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import {
  countStatements,
  createStandingClock,
  meddle,
  resultFor,
  startTestEngine,
  type TestEngine,
  until,
  withClient,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

const TOOLS = [
  { name: "safe", options: { retry: "safe" } },
  { name: "unsafe", options: { retry: "never" } },
  { name: "few", options: { concurrency: 2 } },
  { name: "slow", options: { rate: { limit: 1, per_seconds: 60 } } },
  { name: "mine", options: { session: "agent" } },
  { name: "asked", options: { approval: "required" } },
  { name: "plain", options: { service: "plain" } },
];
const WAIT_MS = 60_000;

/** With a clock that stands: a service that rests does not look by itself, however long a busy machine takes. */
const start = (options: Partial<EngineOptions> = {}): Promise<TestEngine> =>
  startTestEngine({ tools: TOOLS, clock: createStandingClock(), ...options });

const claim = (t: TestEngine, max = 4, holder = "service", signal?: AbortSignal) =>
  t.engine.calls.claim({ projectId: t.projectId, target: "test", holder, max }, WAIT_MS, signal);

/** A service that has looked at the empty queue and rests in line. */
const rest = async (t: TestEngine, max?: number, holder?: string, signal?: AbortSignal) => {
  const looks = () => t.engine.calls.stats().claim;
  const before = looks()?.items ?? 0;
  const claimed = claim(t, max, holder, signal);
  await until("its look to be over", () => (looks()?.items ?? 0) > before && looks()?.inFlight === 0, WAIT_MS);
  return { claimed };
};

const ask = (t: TestEngine, toolName = "safe", more: object = {}) =>
  t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {}, agentId: "sys.anna", ...more });

const rowOf = (t: TestEngine, toolCallId: string) =>
  withClient(t, async (client) => {
    const { rows } = await client.query<{
      status: string;
      lease_holder: string | null;
      attempts: number;
      due: boolean;
    }>(
      `select status, lease_holder, attempts, due_at <= lease_expires_at and lease_expires_at > now() as due
         from state.calls where tool_call_id = $1`,
      [toolCallId],
    );
    return rows[0];
  });

const idsOf = (calls: readonly LeasedCall[]): string[] => calls.map(({ facts }) => facts.toolCallId);

test.each(["safe", "unsafe"])(
  "[ENG-match-1] a call of a tool that is %s is written as leased to the service that rests, and handed to it",
  async (tool) => {
    await using t = await start();
    const { claimed } = await rest(t);
    const counted = countStatements([t.engine]);
    const made = await ask(t, tool);
    const [leased] = await claimed;
    expect(made).toMatchObject({ status: "running", idempotent: false });
    const isOfTheCall = (name: string): boolean => !name.startsWith("registry.read-");
    expect(counted.names().filter(isOfTheCall)).toEqual(["calls.dispatch-fresh"]);
    expect(await rowOf(t, made.toolCallId)).toEqual({
      status: "running",
      lease_holder: "service",
      attempts: 1,
      due: true,
    });
    const view = await t.engine.calls.get({ projectId: t.projectId, toolCallId: made.toolCallId });
    if (leased === undefined) throw new RangeError("a call was expected");
    expect(view).toMatchObject({ ...leased.facts, leaseId: leased.lease.id });
    expect(leased).toMatchObject({
      attempt: 1,
      lease: { expiresAt: view.leaseExpiresAt },
      runDeadline: view.runDeadline,
      command: { payload: { tool_call_card_id: made.callCardId, tool_name: tool } },
    });
    const [card] = await t.engine.cards.getCards(t.projectId, [made.callCardId]);
    expect(JSON.parse(leased.cardBody)).toEqual(card);
    expect((await t.engine.calls.heartbeat({ ...leased.facts, leaseId: leased.lease.id })).cancel).toBe(false);
    expect((await t.engine.calls.settle(resultFor(leased))).status).toBe("success");
  },
);

test("[ENG-match-1] a call with a key is matched as well, and its repetition finds it", async () => {
  await using t = await start();
  const { claimed } = await rest(t);
  const made = await ask(t, "unsafe", { idempotencyKey: "k" });
  expect(idsOf(await claimed)).toEqual([made.toolCallId]);
  expect(await ask(t, "unsafe", { idempotencyKey: "k" })).toMatchObject({
    toolCallId: made.toolCallId,
    status: "running",
    idempotent: true,
  });
});

test.each([
  ["a tool with a limit of calls at once", "few", {}],
  ["a tool with a limit of calls in time", "slow", {}],
  ["a call of a session", "mine", {}],
  ["a call that a person must approve", "asked", {}],
  ["a call for later", "safe", { notBeforeMs: Date.now() + 3_600_000 }],
  ["a call of a plain service", "plain", {}],
])("[ENG-match-2] %s goes to the queue", async (_what, tool, more) => {
  await using t = await start();
  const over = new AbortController();
  const { claimed } = await rest(t, 4, "service", over.signal);
  const made = await ask(t, tool, more);
  expect(made.status).toBe(tool === "asked" ? "awaiting_approval" : "queued");
  over.abort();
  for (const { facts } of await claimed) expect(facts.toolCallId).toBe(made.toolCallId);
});

test("[ENG-match-2] a call of a paused tool waits outside of the queue", async () => {
  await using t = await start();
  await t.engine.tools.pauseTool(t.projectId, "safe");
  const over = new AbortController();
  const { claimed } = await rest(t, 4, "service", over.signal);
  const made = await ask(t);
  expect(await rowOf(t, made.toolCallId)).toMatchObject({ status: "queued", lease_holder: null });
  over.abort();
  expect(await claimed).toEqual([]);
});

test("[ENG-match-3] a due call that waits for the target is not overtaken", async () => {
  await using t = await start();
  const first = await ask(t);
  const { claimed } = await rest(t, 1, "early");
  expect(idsOf(await claimed)).toEqual([first.toolCallId]);
  const other = await rest(t, 1, "late");
  // Back into the queue without a bell: as if a ring of another process were still on its way.
  await meddle(t, "queueAgain");
  const second = await ask(t);
  expect(second.status).toBe("queued");
  expect(idsOf(await other.claimed)).toEqual([first.toolCallId]);
  expect(idsOf(await claim(t))).toEqual([second.toolCallId]);
});

test("[ENG-match-3] of calls dispatched together a service gets as many as it asked for, and the next service the next", async () => {
  await using t = await start();
  const one = await rest(t, 2, "one");
  const two = claim(t, 1, "two");
  const made = await Promise.all(["a", "b", "c", "d"].map((n) => ask(t, "safe", { agentId: `sys.${n}` })));
  const taken = [...(await one.claimed), ...(await two)];
  expect(taken.map(({ facts }) => facts.toolCallId)).toEqual(made.slice(0, 3).map(({ toolCallId }) => toolCallId));
  expect(made.map(({ status }) => status)).toEqual(["running", "running", "running", "queued"]);
  expect(idsOf(await claim(t))).toEqual([made[3]?.toolCallId]);
});

test("[ENG-match-4] a service that gives up while its call is written gets the call, and can give it back", async () => {
  const over = new AbortController();
  const faults = {
    at: (point: FaultPoint) => {
      if (point === "handover:before-telling") over.abort();
      return Promise.resolve();
    },
  };
  await using t = await start({ faults });
  const { claimed } = await rest(t, 4, "service", over.signal);
  const made = await ask(t, "unsafe");
  const [leased] = await claimed;
  expect(leased?.facts.toolCallId).toBe(made.toolCallId);
  if (leased === undefined) return;
  await t.engine.calls.release({ ...leased.facts, leaseId: leased.lease.id });
  expect(await rowOf(t, made.toolCallId)).toMatchObject({ status: "queued", attempts: 0 });
});

test("[ENG-match-4] when the answer of the dispatch is lost the call goes back to the queue, also one that may not run twice", async () => {
  let lost = 0;
  const faults = {
    at: (point: FaultPoint) =>
      point === "handover:before-telling" && lost++ === 0
        ? Promise.reject(new ToolplaneError("storage_error", "the answer was lost"))
        : Promise.resolve(),
  };
  await using t = await start({ faults });
  const { claimed } = await rest(t);
  const made = await ask(t, "unsafe");
  const [leased] = await claimed;
  expect(leased).toMatchObject({ attempt: 1, facts: { toolCallId: made.toolCallId } });
  if (leased === undefined) return;
  expect((await t.engine.calls.settle(resultFor(leased))).status).toBe("success");
});

test("[ENG-match-1] a service of every project is handed calls as well", async () => {
  await using t = await start();
  const looks = countStatements([t.engine]);
  const claimed = t.engine.calls.claimAcross({ target: "test", holder: "bundled", max: 4 }, WAIT_MS);
  await until("its look", () => looks.names().includes("calls.projects-with-work"), WAIT_MS);
  await t.engine.databaseNow();
  const made = await ask(t);
  expect(idsOf(await claimed)).toEqual([made.toolCallId]);
  expect((await rowOf(t, made.toolCallId))?.lease_holder).toBe("bundled");
});

/** A service in this process: its place stays between its claims. */
const standAt = (t: TestEngine, room: () => number) => {
  const over = new AbortController();
  const standing = { room };
  const request = { projectId: t.projectId, target: "test", holder: "service", max: 1, standing };
  const looks = () => t.engine.calls.stats().claim;
  return {
    over,
    looks: () => looks()?.items ?? 0,
    claim: () => t.engine.calls.claim(request, WAIT_MS, over.signal),
    async rested() {
      const claimed = t.engine.calls.claim(request, WAIT_MS, over.signal);
      await until("its look to be over", () => (looks()?.items ?? 0) > 0 && looks()?.inFlight === 0, WAIT_MS);
      return { claimed };
    },
  };
};

test("[ENG-match-5] a service that stands is handed calls while it is away, and gets them when it comes back", async () => {
  await using t = await start();
  let free = 3;
  const service = standAt(t, () => free);
  const { claimed } = await service.rested();
  const first = await ask(t, "unsafe");
  expect(idsOf(await claimed)).toEqual([first.toolCallId]);
  // It runs the first one and has not claimed again.
  free = 2;
  const meanwhile = [await ask(t), await ask(t)];
  expect(meanwhile.map(({ status }) => status)).toEqual(["running", "running"]);
  const beyond = await ask(t);
  expect(beyond.status).toBe("queued");
  const looks = service.looks();
  expect(idsOf(await service.claim())).toEqual(meanwhile.map(({ toolCallId }) => toolCallId));
  expect(service.looks()).toBe(looks);
  free = 1;
  expect(idsOf(await service.claim())).toEqual([beyond.toolCallId]);
  service.over.abort();
});

test("[ENG-match-5] a crowd of several flushes is handed over whole, and so is the next one", async () => {
  await using t = await start();
  const CROWD = 256;
  let running = 0;
  const service = standAt(t, () => CROWD - running);
  const { claimed } = await service.rested();
  let next: Promise<readonly LeasedCall[]> = claimed;
  const serve = async (): Promise<void> => {
    for (let done = 0; done < 2 * CROWD; ) {
      const calls = await next;
      running += calls.length;
      next = service.claim();
      await Promise.all(calls.map((leased) => t.engine.calls.settle(resultFor(leased))));
      running -= calls.length;
      done += calls.length;
    }
  };
  const serving = serve();
  const looks = service.looks();
  for (const crowd of ["one", "two"]) {
    const asks = Array.from({ length: CROWD }, (_, n) =>
      t.engine.calls.call(
        { projectId: t.projectId, toolName: "safe", arguments: { crowd, n }, agentId: "sys.anna" },
        WAIT_MS,
      ),
    );
    expect(new Set((await Promise.all(asks)).map(({ status }) => status))).toEqual(new Set(["success"]));
  }
  await serving;
  expect(service.looks()).toBe(looks);
  service.over.abort();
});

test("[ENG-match-5] what a service that stands had not fetched when it ended goes back to the queue, also what may not run twice", async () => {
  await using t = await startTestEngine({ tools: TOOLS });
  const service = standAt(t, () => 4);
  const { claimed } = await service.rested();
  const first = await ask(t);
  expect(idsOf(await claimed)).toEqual([first.toolCallId]);
  const left = await ask(t, "unsafe");
  expect(left.status).toBe("running");
  service.over.abort();
  await until("it to be queued", async () => (await rowOf(t, left.toolCallId))?.status === "queued", WAIT_MS);
  expect(idsOf(await claim(t, 1, "another"))).toEqual([left.toolCallId]);
  // A claim of a service that has ended takes no place again.
  expect(await service.claim()).toEqual([]);
  expect((await ask(t)).status).toBe("queued");
});
