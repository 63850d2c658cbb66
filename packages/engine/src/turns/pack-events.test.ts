import { expect, test } from "vitest";
import { packEvents } from "./pack-events.ts";
import type { TurnMeans } from "./turn-event.ts";
import { stateEvent, stepEvent } from "./turn-messages.ts";
import type { TurnRow } from "./turn-row.ts";

const turnOf = (agent: string, turn: string): TurnRow =>
  ({
    project_id: "p",
    agent_id: agent,
    agent_turn_id: turn,
    channel_id: "public",
    trace_id: "a".repeat(32),
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    output_box_id: "box",
    recursion_depth: 0,
  }) as TurnRow;

const means = { ids: { uuid: () => "id" }, nowMs: 1_000 } as unknown as TurnMeans;
const running = (turn: TurnRow, epoch = 1) => stateEvent(turn, { status: "running", epoch }, means);
const lastsOf = (payload: string): readonly string[] =>
  payload.split("\n").map((line) => line.split("\t").at(-1) ?? "");

test("what is told of a turn is one row, in its order; another turn of the agent begins the next", () => {
  const [first, second, other] = [turnOf("a", "t1"), turnOf("a", "t2"), turnOf("b", "t3")];
  const started = stepEvent(first, 1, { stepId: "s1", phase: "started" }, means);
  const { messages, parcels } = packEvents([
    running(first),
    running(other),
    started,
    running(second),
    running(first, 2),
  ]);
  expect(messages).toEqual([]);
  expect(parcels.map(({ subject, events }) => [subject, events])).toEqual([
    ["cg.v1r4.p.public.evt.agent.a.turn", 2],
    ["cg.v1r4.p.public.evt.agent.b.turn", 1],
    ["cg.v1r4.p.public.evt.agent.a.turn", 1],
    ["cg.v1r4.p.public.evt.agent.a.turn", 1],
  ]);
  expect(lastsOf(parcels[0]?.payload ?? "")).toEqual(["t1:state:1:running", "t1:s1:started"]);
});

test("an event whose id no line can hold is a message of its own, and much that is told makes several rows", () => {
  const turn = turnOf("b", "t");
  const odd = stateEvent(turn, { status: "suspended", epoch: 1, more: "x".repeat(300) }, means);
  const large = stepEvent(turn, 1, { stepId: "s", phase: "completed", metadata: { text: "x".repeat(100_000) } }, means);
  expect(() => packEvents([odd])).toThrow(/message id/);
  expect(packEvents([large, large]).parcels.map(({ events }) => events)).toEqual([1, 1]);
});
