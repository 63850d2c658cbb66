// Who is told that an agent has something to do, where no bus beside the database carries wakeups: the inbox row is the
// queue, the worker that serves the pool in this process is told by name, and other processes by an empty ring.

import type { AgentKey, PoolServer, Work } from "@toolplane/engine";
import { stepIdOf } from "@toolplane/engine";
import type { FaultPoint, Place } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { eventually, meddle } from "@toolplane/testkit";
import { expect, test } from "vitest";
import {
  addAgent,
  advance,
  answerAll,
  asking,
  call,
  commit,
  events,
  mustWork,
  POOL,
  startTurnWorld,
  type TurnWorld,
  takeTurn,
} from "./turn-world.ts";

interface Server extends PoolServer {
  readonly told: string[];
  readonly taken: Work[];
  looks: number;
  checks: number;
  dropped: number;
  /** How many places it has. */
  room: number;
}

const serve = (workerTargets: readonly string[] = [POOL], room = 0): Server => {
  const server: Server = {
    workerTargets,
    told: [],
    taken: [],
    looks: 0,
    checks: 0,
    dropped: 0,
    room,
    rung({ agentId }: AgentKey) {
      server.told.push(agentId);
      return server.room > 0;
    },
    look: () => void server.looks++,
    check: () => void server.checks++,
    reserve(): Place | undefined {
      if (server.room === 0) return undefined;
      server.room--;
      return {
        workerId: "here",
        stepOf: (work) => stepIdOf(work.agentTurnId, work.stepCount + 1),
        take: (work) => server.taken.push(work),
        drop: () => void server.dropped++,
      };
    },
  };
  return server;
};

const commands = (t: TurnWorld) => t.rows("select subject from bus.messages where category = 'cmd'");

test("[ARCH-5-Q1] a wakeup is not a row: spawned, answered, given back, rung again, and nothing is in the message table", async () => {
  await using t = await startTurnWorld();
  const server = serve();
  const serving = await t.engine.serveAgents(server);
  await t.engine.turns.spawn(asking(t));
  await commit(t, mustWork(await advance(t)), call("safe"));
  await answerAll(t);
  await t.engine.turns.release(mustWork(await advance(t)));
  await meddle(t, "leaveBellsUnheard");
  await t.engine.tendTurns.unheard(10);
  expect(server.told).toEqual(["helper", "helper", "helper", "helper"]);
  expect(await commands(t)).toEqual([]);
  await serving.stop();
  await t.engine.turns.stop({ ...(await t.engine.turns.spawn(asking(t, { agentId: "helper" }))), actorId: "sys.api" });
  expect(server.told).toHaveLength(4);
});

test("[UTP-6.9-1] the pool the roster names is told, and no other", async () => {
  await using t = await startTurnWorld();
  const [mine, other] = [serve(), serve(["pool_b"])];
  await t.engine.serveAgents(mine);
  await t.engine.serveAgents(other);
  const work = await takeTurn(t);
  await t.engine.turns.spawn(asking(t));
  await meddle(t, "moveAgents");
  await t.engine.turns.finish(work, { status: "success", deliverable: "done" });
  expect([mine.told, other.told]).toEqual([["helper"], ["helper"]]);
  // A worker of another pool leaves the agent's work alone, and is not told to come again.
  const key = { projectId: t.projectId, agentId: "helper", workerId: "w", takeWork: true };
  expect(await t.engine.turns.advance({ ...key, workerTargets: [POOL] })).toEqual({ applied: 0, workLeft: false });
  expect(mustWork(await t.engine.turns.advance({ ...key, workerTargets: ["pool_b"] })).turnEpoch).toBe(2);
});

test("a turn that begins while its pool has a place is work of that place: one commit, the same events", async () => {
  await using t = await startTurnWorld();
  const server = serve([POOL], 1);
  await t.engine.serveAgents(server);
  const made = await t.engine.turns.spawn(asking(t));
  const [work] = server.taken;
  expect(work).toMatchObject({ agentTurnId: made.agentTurnId, turnEpoch: 1, stepCount: 0 });
  expect(work?.opening?.context.map(({ type }) => type)).toEqual(["task.instruction"]);
  expect(work?.opening).toEqual((await t.engine.turns.readBoxes([made]))[0]);
  expect(server.told).toEqual([]);
  expect((await events(t, "state")).map(({ payload }) => payload.status)).toEqual(["dispatched", "running"]);
  expect((await events(t, "step")).map(({ payload }) => payload.phase)).toEqual(["started"]);
  expect(await t.rows("select status, worker from state.inbox")).toEqual([{ status: "processing", worker: "here" }]);
  expect(await t.rows("select status, turn_epoch::int as epoch from state.heads")).toEqual([
    { status: "running", epoch: 1 },
  ]);
  // It is a claim like any other: it lives, it commits, and it lapses.
  if (work === undefined) throw new RangeError("no work was handed over");
  expect(await t.engine.turns.heartbeat([work])).toEqual([]);
  expect(await commit(t, work, call("safe"))).toMatchObject({ next: "suspended" });
  await answerAll(t);
  expect(mustWork(await advance(t))).toMatchObject({ turnEpoch: 2, stepCount: 1 });
});

test("a turn that is not written leaves its place free", async () => {
  const faults = {
    at: async (point: string): Promise<void> => {
      if (point === "spawn:before-commit") throw new RangeError(point);
    },
  };
  await using t = await startTurnWorld({ faults });
  const server = serve([POOL], 1);
  await t.engine.serveAgents(server);
  await expect(t.engine.turns.spawn(asking(t))).rejects.toThrow(RangeError);
  expect([server.taken.length, server.dropped]).toEqual([0, 1]);
  expect(await t.rows("select status from state.turns")).toEqual([]);
});

test("[INV-I13-T1] when the answer of a spawn is lost its work is given back at once, not when the claim lapses", async () => {
  let lost = 0;
  const faults = {
    at: (point: FaultPoint) =>
      point === "spawn:after-commit" && lost++ === 0
        ? Promise.reject(new ToolplaneError("storage_error", "the answer was lost"))
        : Promise.resolve(),
  };
  await using t = await startTurnWorld({ faults, turns: { claimSeconds: 600 } });
  const server = serve([POOL], 1);
  const serving = await t.engine.serveAgents(server);
  // Asked again, it finds the turn that was written.
  await t.engine.turns.spawn(asking(t));
  expect([server.taken.length, server.dropped]).toEqual([0, 1]);
  await eventually(() => server.told.includes("helper"));
  expect(mustWork(await advance(t)).turnEpoch).toBe(1);
  await serving.stop();
});

test("[UTP-6.3-5] a turn behind another waits in the queue, takes no place, and follows when the first has ended", async () => {
  await using t = await startTurnWorld();
  const server = serve([POOL], 5);
  await t.engine.serveAgents(server);
  const [first, second] = [await t.engine.turns.spawn(asking(t)), await t.engine.turns.spawn(asking(t))];
  expect([first.turnEpoch, second.turnEpoch, server.taken.length]).toEqual([1, null, 1]);
  await t.engine.turns.finish(server.taken[0] as Work, { status: "success", deliverable: "done" });
  expect(server.told).toEqual(["helper"]);
  expect(mustWork(await advance(t)).agentTurnId).toBe(second.agentTurnId);
});

test("two turns of an agent that are spawned in one moment: one begins, one waits; a used correlation is found", async () => {
  await using t = await startTurnWorld();
  await addAgent(t, "other");
  const asks = [asking(t), asking(t), asking(t, { correlationId: "c1" }), asking(t, { agentId: "other" })];
  const made = await Promise.all(asks.map((ask) => t.engine.turns.spawn(ask)));
  const mine = made.filter(({ agentId }) => agentId === "helper").map(({ turnEpoch }) => turnEpoch);
  expect(mine.filter((epoch) => epoch !== null)).toEqual([1]);
  expect(await t.engine.turns.spawn(asking(t, { correlationId: "c1" }))).toMatchObject({
    idempotent: true,
    agentTurnId: made[2]?.agentTurnId,
  });
  // A correlation belongs to its asker and one agent: the same name for two agents in one moment names two turns.
  const rivals = ["helper", "other"].map((agentId) =>
    t.engine.turns.spawn(asking(t, { agentId, correlationId: "c2" })),
  );
  const [one, other] = await Promise.all(rivals);
  expect([one?.agentId, other?.agentId]).toEqual(["helper", "other"]);
  expect(one?.agentTurnId).not.toBe(other?.agentTurnId);
});

test("[INV-I13-T1] a process that serves a pool hears rings of another process, and stops of it", async () => {
  await using t = await startTurnWorld();
  const there = await t.another();
  const server = serve();
  await there.serveAgents(server);
  await eventually(() => there.doorbell.stats().connected && t.engine.doorbell.stats().connected);
  const looked = server.looks;
  await t.engine.turns.spawn(asking(t));
  await eventually(() => server.looks > looked);
  expect(await there.turns.due([POOL], 10)).toEqual([{ projectId: t.projectId, agentId: "helper" }]);
  const work = mustWork(await advance(t));
  await t.engine.turns.stop({ ...work, actorId: "sys.api" });
  await eventually(() => server.checks > 0);
});
