import { describe, expect, test } from "vitest";
import type { CallEvent } from "../events/call-event.ts";
import { addListed, applyEvents, type ListedCall, MOST_ROWS, NO_ROWS, shownRows } from "./call-rows.ts";

const ALL = { tool: "", agent: "", status: "", error: "" };

const event = (id: string, phase: string, status: string, at = "2026-11-16T10:00:00.000Z"): CallEvent => ({
  toolCallId: id,
  turnId: "turn_1",
  agentId: "sys.api",
  toolName: "echo",
  phase,
  status,
  attempt: 1,
  errorCode: status === "failed" ? "tool_error" : "",
  at,
});

const listed = (id: string, status: string, at = "2026-11-16T09:00:00.000Z"): ListedCall => ({
  tool_call_id: id,
  tool_name: "echo",
  agent_id: "sys.api",
  agent_turn_id: "turn_1",
  status,
  error_code: status === "failed" ? "tool_error" : null,
  attempts: 1,
  created_at: at,
  started_at: null,
  settled_at: null,
});

describe("rows of calls", () => {
  test("a call lives by its events, newest first", () => {
    let rows = applyEvents(NO_ROWS, [event("a", "dispatched", "queued"), event("b", "dispatched", "queued")]);
    rows = applyEvents(rows, [event("a", "leased", "running"), event("a", "settled", "success")]);
    expect(shownRows(rows, ALL).map(({ id, status }) => [id, status])).toEqual([
      ["b", "queued"],
      ["a", "success"],
    ]);
  });

  test("repeated and late events change nothing", () => {
    const once = applyEvents(NO_ROWS, [event("a", "dispatched", "queued"), event("a", "settled", "success")]);
    const twice = applyEvents(once, [event("a", "dispatched", "queued"), event("a", "leased", "running")]);
    expect(shownRows(twice, ALL)).toEqual(shownRows(once, ALL));
  });

  test("an event of a call that is not listed adds no row without a beginning", () => {
    expect(applyEvents(NO_ROWS, [event("a", "settled", "success")]).order).toEqual([]);
  });

  test("a list that is older than an event does not bring a call back to life", () => {
    const over = applyEvents(NO_ROWS, [event("a", "dispatched", "queued"), event("a", "settled", "failed")]);
    const rows = addListed(over, [listed("a", "running"), listed("b", "success")]);
    expect(shownRows(rows, ALL).map(({ id, status, errorCode }) => [id, status, errorCode])).toEqual([
      ["a", "failed", "tool_error"],
      ["b", "success", ""],
    ]);
  });

  test("the oldest rows go first", () => {
    const many = Array.from({ length: MOST_ROWS + 10 }, (_, at) => event(`c${at}`, "dispatched", "queued"));
    const rows = applyEvents(NO_ROWS, many);
    expect(rows.order).toHaveLength(MOST_ROWS);
    expect(rows.byId.size).toBe(MOST_ROWS);
    expect(rows.order[0]).toBe("c10");
  });

  test.each([
    [{ ...ALL, status: "failed" }, ["b"]],
    [{ ...ALL, status: "open" }, ["c"]],
    [{ ...ALL, error: "TOOL_" }, ["b"]],
    [{ ...ALL, tool: "ech" }, ["c", "b", "a"]],
    [{ ...ALL, agent: "helper" }, []],
    [{ ...ALL, agent: "the plane" }, ["c", "b", "a"]],
  ])("the filter %j shows %j", (filter, ids) => {
    const rows = addListed(NO_ROWS, [
      listed("a", "success", "2026-11-16T09:00:00Z"),
      listed("b", "failed", "2026-11-16T09:00:01Z"),
      listed("c", "running", "2026-11-16T09:00:02Z"),
    ]);
    const names: Readonly<Record<string, string>> = { "sys.api": "The plane itself" };
    expect(shownRows(rows, filter, (id) => names[id] ?? "").map(({ id }) => id)).toEqual(ids);
  });
});
