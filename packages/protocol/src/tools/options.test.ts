import { expect, test } from "vitest";
import { isOfferedTo, resolveOptions, type ToolOptions } from "./options.ts";

const pick = (options: ToolOptions, key: keyof ReturnType<typeof resolveOptions>) => resolveOptions(options)[key];

test.each<[string, ToolOptions, keyof ReturnType<typeof resolveOptions>, unknown]>([
  ["[UTP-5.3-4] a run has 30 seconds", {}, "timeoutSeconds", 30],
  ["[UTP-5.3-4] a run may be shorter", { timeout_seconds: 0.5 }, "timeoutSeconds", 0.5],
  ["[UTP-5.3-4] a run may be longer", { timeout_seconds: 600 }, "timeoutSeconds", 600],
  ["[UTP-5.3-4] a call waits a day in the queue", {}, "queueTimeoutSeconds", 86_400],
  ["[UTP-5.3-4] the wait may be set", { queue_timeout_seconds: 5 }, "queueTimeoutSeconds", 5],
  ["[UTP-5.3-5] a tool that does not say it is safe is never run twice", {}, "retry", "never"],
  ["[UTP-5.3-5] a tool may say it is safe", { retry: "safe" }, "retry", "safe"],
  ["[UTP-5.3-12] control keys of foreign bodies are stripped", {}, "control", "strip"],
  ["[UTP-5.3-12] control keys may be allowed", { control: "allow" }, "control", "allow"],
  ["[UTP-5.3-13] a definition is recorded", {}, "pin", "record"],
  ["[UTP-5.3-13] a definition may be pinned", { pin: "strict" }, "pin", "strict"],
  ["[UTP-5.3-14] services lease", {}, "service", "leased"],
  ["[UTP-5.3-14] a service may be plain", { service: "plain" }, "service", "plain"],
  ["[UTP-5.3-15] nobody is asked", {}, "approval", { policy: "never", timeoutSeconds: 86_400 }],
  [
    "[SEC-15-2] a person is asked about what derives from outside",
    { approval: "external" },
    "approval",
    { policy: "external", timeoutSeconds: 86_400 },
  ],
  [
    "[UTP-5.3-15] a person is asked",
    { approval: "required" },
    "approval",
    { policy: "required", timeoutSeconds: 86_400 },
  ],
  [
    "[UTP-5.3-15] an approval has a deadline of its own",
    { approval: { policy: "required", timeout_seconds: 60 } },
    "approval",
    { policy: "required", timeoutSeconds: 60 },
  ],
  ["[UTP-5.3-6] user interfaces are denied", {}, "uiAllowed", false],
  ["[UTP-5.3-6] user interfaces may be allowed", { ui_allowed: true }, "uiAllowed", true],
  ["[HOST-4-16] a call has no session", {}, "session", "none"],
  ["[HOST-4-14] an agent's calls may share one", { session: "agent" }, "session", "agent"],
  ["[HOST-4-14] a session may be named by an argument", { session: "argument" }, "session", "argument"],
  ["[HOST-2-T1] any model is offered a tool that asks for no tags", {}, "requiredTags", []],
  ["[UTP-5.3-16] secrets stay out of URLs", {}, "secretsInUrl", false],
  ["[UTP-5.3-17] there is no limit of calls at once", {}, "concurrency", undefined],
  ["[UTP-5.3-17] calls at once may be limited", { concurrency: 3 }, "concurrency", 3],
  ["[UTP-5.3-17] there is no limit of calls in time", {}, "rate", undefined],
  [
    "[UTP-5.3-17] calls in time may be limited",
    { rate: { limit: 20, per_seconds: 60 } },
    "rate",
    { limit: 20, per_seconds: 60 },
  ],
])("%s", (_title, options, key, expected) => {
  expect(pick(options, key)).toEqual(expected);
});

test.each<[string, ToolOptions, readonly string[], boolean]>([
  ["no tags asked for", {}, [], true],
  ["every tag there", { required_tags: ["vision", "long"] }, ["long", "vision", "fast"], true],
  ["one missing", { required_tags: ["vision", "long"] }, ["vision"], false],
  ["a model without tags", { required_tags: ["vision"] }, [], false],
  ["the tool's own tags do not count", { tags: ["vision"] }, [], true],
])("[HOST-2-T1] a tool is offered to a model that has its tags: %s", (_what, options, modelTags, offered) => {
  expect(isOfferedTo(options, modelTags)).toBe(offered);
});
