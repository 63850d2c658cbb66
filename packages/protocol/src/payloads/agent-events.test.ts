import { describe, expect, test } from "vitest";
import { failure } from "../../test/refusals.ts";
import { markerSchema, parseTaskEvent, STEP_PHASES, stateEventSchema, stepEventSchema } from "./agent-events.ts";
import { chunkSchema, encodeChunk, partSchema } from "./agent-stream.ts";

describe("events", () => {
  const task = { agent_turn_id: "t", status: "success" };
  test("[UTP-1.4-C10] a task event needs its turn and one of the five statuses", () => {
    const full = {
      ...task,
      output_box_id: "b",
      deliverable_card_id: "d",
      tool_result_card_id: "r",
      output_box: { card_ids: ["d"] },
      error: "e",
      error_code: "c",
      stats: { duration_ms: 1 },
      chain_head: "ff",
    };
    expect(parseTaskEvent({ ...full, unknown: 1 })).toEqual(full);
    expect(parseTaskEvent({ ...task, error: null })).toEqual(task);
    expect(failure(() => parseTaskEvent({ ...task, status: "done" })).code).toBe("bad_request");
    expect(failure(() => parseTaskEvent({ ...task, agent_turn_id: "" })).code).toBe("bad_request");
  });

  test("[UTP-1.4-C11] a step event needs turn, step and phase", () => {
    const step = { agent_turn_id: "t", step_id: "s", phase: "started" };
    expect(STEP_PHASES.map((phase) => stepEventSchema.parse({ ...step, phase }).phase)).toEqual([
      "started",
      "planning",
      "executing",
      "completed",
      "failed",
    ]);
    expect(stepEventSchema.parse({ ...step, new_card_ids: ["c"], metadata: {} })).toEqual({
      ...step,
      new_card_ids: ["c"],
      metadata: {},
    });
    expect(stepEventSchema.safeParse({ ...step, phase: "running" }).success).toBe(false);
  });

  test("[UTP-1.4-C12] a state event needs agent, turn, status, epoch and a UTC time", () => {
    const state = {
      agent_id: "a",
      agent_turn_id: "t",
      status: "idle",
      turn_epoch: 3,
      updated_at: "2026-01-02T03:04:05Z",
    };
    expect(stateEventSchema.parse(state)).toEqual(state);
    for (const change of [
      { status: "busy" },
      { turn_epoch: -1 },
      { turn_epoch: 1.5 },
      { updated_at: "2026-01-02T03:04:05+02:00" },
      { agent_id: "" },
    ]) {
      expect(stateEventSchema.safeParse({ ...state, ...change }).success).toBe(false);
    }
  });

  test("[UTP-1.4-C13] a marker names its type, card, agent, trace and time", () => {
    const marker = {
      marker_type: "m",
      tool_call_card_id: "c",
      source_agent_id: "a",
      trace_id: "t",
      ts: "2026-01-02T03:04:05Z",
    };
    expect(markerSchema.parse(marker)).toEqual(marker);
    expect(markerSchema.parse({ ...marker, ts: 5 }).ts).toBe(5);
    expect(markerSchema.safeParse({ ...marker, marker_type: undefined }).success).toBe(false);
  });
});

describe("streams", () => {
  const chunk = { agent_turn_id: "t", step_id: "s", chunk_type: "content" } as const;

  test("[UTP-1.4-C14] a chunk's defaults are left out on the wire and come back on reading", () => {
    const full = { ...chunk, content: "hi", index: 2, metadata: { a: 1 }, usage: { tokens: 3 }, response_cost: 0.5 };
    const bare = { ...chunk, content: "", index: 0, metadata: {}, usage: {}, response_cost: 0 };
    expect(encodeChunk(full)).toEqual(full);
    expect(encodeChunk(bare)).toEqual(chunk);
    expect(encodeChunk(chunk)).toEqual(chunk);
    expect(chunkSchema.parse(chunk)).toEqual(bare);
    expect(chunkSchema.parse(encodeChunk(full))).toEqual(full);
  });

  test("[UTP-1.4-C15] a chunk has a known type", () => {
    for (const type of ["start", "content", "end", "reasoning", "tool_call"]) {
      expect(chunkSchema.parse({ ...chunk, chunk_type: type }).chunk_type).toBe(type);
    }
    expect(chunkSchema.safeParse({ ...chunk, chunk_type: "middle" }).success).toBe(false);
    expect(chunkSchema.safeParse({ ...chunk, index: -1 }).success).toBe(false);
  });

  test("[API-5-C1] a part names its turn and call, counts from 0 and may be any JSON value", () => {
    const part = { agent_turn_id: "t", tool_call_id: "c", index: 0, part: null };
    expect(partSchema.parse(part)).toEqual(part);
    expect(partSchema.parse({ ...part, part: [1] }).part).toEqual([1]);
    for (const change of [{ index: -1 }, { index: "0" }, { part: undefined }, { tool_call_id: "" }]) {
      expect(partSchema.safeParse({ ...part, ...change }).success).toBe(false);
    }
  });
});
