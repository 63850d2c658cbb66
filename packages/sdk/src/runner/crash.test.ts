// An error that no code caught: what the service's log says, and what becomes of each call that ran.

import { describe, expect, test } from "vitest";
import { until } from "../../test/manual-clock.ts";
import { createRunnerWorld, waitForAbort } from "../../test/runner-world.ts";
import { planCrash } from "./crash.ts";

test.each([
  [false, "never", "this", "release"],
  [false, "safe", "unknown", "release"],
  [true, "safe", "other", "release"],
  [true, "safe", "this", "lapse"],
  [true, "safe", "unknown", "lapse"],
  [true, "never", "this", "failed"],
  [true, "never", "other", "outcome_unknown"],
  [true, "never", "unknown", "outcome_unknown"],
] as const)("[SEE-18] started %s, retry %s, thrown by %s: %s", (started, retry, culprit, plan) => {
  expect(planCrash(started, retry, culprit)).toBe(plan);
});

const crashWorld = (retry: "safe" | "never") => {
  const calls = ["call_1", "call_2"].map((callId) => ({ callId, leaseId: `lease_${callId}` }));
  const world = createRunnerWorld({
    run: waitForAbort().run,
    calls,
    profile: { retry, secrets: ["KEY"] },
    secrets: () => "hunter2-and-more",
  });
  const handled = world.calls.map(({ command }) => world.runner.handle(command));
  return { ...world, handled, started: () => until(() => world.runs() === 2, "both run") };
};

const codeOf = (toolCallId: string, toolName = "count_words") => ({
  toolName,
  toolCallId,
  scrub: (text: string) => text.replaceAll("another-secret", "[redacted OTHER]"),
});

const thrown = new TypeError("boom with hunter2-and-more");

describe("[SEE-18] a crash", () => {
  test("is one line of the log: the cause, the call whose code threw, the calls that ran; without secrets", async () => {
    const { runner, log, started, handled } = crashWorld("never");
    await started();
    runner.crash(thrown, codeOf("call_2"));
    await Promise.all(handled);
    const lines = log.entries.filter(({ level }) => level === "error");
    expect(lines).toMatchObject([
      {
        message: "an error that no code caught ends the service",
        fields: {
          reason: "boom with [redacted KEY]",
          thrown_by: "count_words in call call_2",
          running: "count_words call_1, count_words call_2",
          stack: expect.stringContaining("crash.test.ts"),
        },
      },
    ]);
    expect(JSON.stringify(log.entries)).not.toContain("hunter2");
  });

  test("fails the call whose code threw with its cause; the others may have had their effect", async () => {
    const { runner, gateway, started, handled } = crashWorld("never");
    await started();
    runner.crash(thrown, codeOf("call_2"));
    expect(await Promise.all(handled)).toMatchObject([{ code: "outcome_unknown" }, { code: "internal_error" }]);
    const sent = new Map(gateway.settled.map((result) => [result.toolCallId, result]));
    expect(sent.get("call_1")).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("ended the service while it ran count_words") },
      diagnostics: { name: "TypeError", message: "boom with [redacted KEY]" },
    });
    expect(sent.get("call_2")).toMatchObject({
      status: "failed",
      error: {
        message: expect.stringMatching(/^boom with \[redacted KEY\]; it was thrown outside of the tool's promise/),
      },
      diagnostics: { stack: expect.stringContaining("crash.test.ts") },
    });
    expect(JSON.stringify(gateway.settled)).not.toContain("hunter2");
  });

  test("gives a safe bystander back, and lets the lease of the safe call whose code threw lapse: that is counted", async () => {
    const { runner, gateway, started, handled } = crashWorld("safe");
    await started();
    runner.crash(thrown, codeOf("call_2"));
    expect(await Promise.all(handled)).toMatchObject([{ outcome: "released" }, { outcome: "lost" }]);
    expect(gateway.released).toEqual([{ toolCallId: "call_1", leaseId: "lease_call_1" }]);
    expect(gateway.settled).toEqual([]);
  });

  test("of a tool's code after its answer names the tool and its call, without its secrets; calls that run did not throw", async () => {
    const { runner, gateway, log, started, handled } = crashWorld("safe");
    await started();
    runner.crash(new TypeError("late, with another-secret"), codeOf("call_0", "send_mail"));
    expect(await Promise.all(handled)).toMatchObject([{ outcome: "released" }, { outcome: "released" }]);
    expect(gateway.settled).toEqual([]);
    const [line] = log.entries.filter(({ level }) => level === "error");
    expect(line?.fields).toMatchObject({
      reason: "late, with [redacted OTHER]",
      thrown_by: "send_mail in call call_0, after its answer",
    });
    expect(JSON.stringify(line)).not.toContain("another-secret");
  });
});
