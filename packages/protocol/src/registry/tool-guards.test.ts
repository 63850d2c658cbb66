import { expect, test } from "vitest";
import type { ToolDefinition } from "../tools/definition.ts";
import { applyGuards } from "./tool-guards.ts";

const define = (options: object): ToolDefinition =>
  ({
    tool_name: "pay",
    description: "Pays",
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.pay",
    after_execution: "suspend",
    parameters: { type: "object", properties: {} },
    options,
  }) as ToolDefinition;

const BREAKER = { failure_rate: 0.5, window_seconds: 60, open_seconds: 30 };
const RETRY = { codes: ["rate_limited"], attempts: 3, backoff_seconds: 1, max_backoff_seconds: 3_600 };

test.each<[string, object, object, readonly string[]]>([
  ["a shorter window", { breaker: BREAKER }, { breaker: { ...BREAKER, window_seconds: 0.01 } }, ["options.breaker"]],
  ["a longer window", { breaker: BREAKER }, { breaker: { ...BREAKER, window_seconds: 600 } }, ["options.breaker"]],
  ["a stricter rate", { breaker: BREAKER }, { breaker: { ...BREAKER, failure_rate: 0.1 } }, []],
  [
    "another code",
    { retry_policy: RETRY },
    { retry_policy: { ...RETRY, codes: ["rate_limited", "tool_error"] } },
    ["options.retry_policy"],
  ],
  [
    "no codes, where some are named",
    { retry_policy: RETRY },
    { retry_policy: { attempts: 3, backoff_seconds: 1, max_backoff_seconds: 3_600 } },
    ["options.retry_policy"],
  ],
  [
    "codes, where none are named",
    { retry_policy: { attempts: 3, backoff_seconds: 1 } },
    { retry_policy: { attempts: 3, backoff_seconds: 1, codes: ["tool_error"] } },
    ["options.retry_policy"],
  ],
  [
    "shorter pauses",
    { retry_policy: RETRY },
    { retry_policy: { ...RETRY, max_backoff_seconds: 60 } },
    ["options.retry_policy"],
  ],
  ["fewer attempts", { retry_policy: RETRY }, { retry_policy: { ...RETRY, attempts: 2 } }, []],
  [
    "less time to approve",
    { approval: { policy: "required", timeout_seconds: 600 } },
    { approval: { policy: "required", timeout_seconds: 1 } },
    ["options.approval"],
  ],
])("[SEC-guard-2] %s", (_what, guard, wish, weakens) => {
  expect(applyGuards(define(guard), define(wish)).weakens).toEqual(weakens);
});
