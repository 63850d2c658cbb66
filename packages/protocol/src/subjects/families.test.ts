import { describe, expect, test } from "vitest";
import { familyOf, type SubjectFamily } from "../../test/subject-family.ts";
import * as families from "./families.ts";
import { matchesPattern } from "./pattern.ts";
import { pmoCommandSubscription, streamPlan, uiActionSubscription, workerWakeupSubscription } from "./streams.ts";
import { parseSubject } from "./subject.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const scope = { projectId: "demo", channelId: "public" };
const PREFIX = "cg.v1r4.demo.public.";

interface Case {
  readonly title: string;
  readonly text: string;
  readonly rest: string;
  readonly family: SubjectFamily;
}

const cases: readonly Case[] = [
  {
    title: "[UTP-1.4-F1] wakeup",
    text: `${PREFIX}cmd.agent.worker_generic.wakeup`,
    rest: "cmd.agent.worker_generic.wakeup",
    family: "wakeup",
  },
  {
    title: "[UTP-1.4-F2] tool command",
    text: families.toolCommandSubject(scope, "text", "run"),
    rest: "cmd.tool.text.run",
    family: "tool_command",
  },
  {
    title: "[UTP-1.4-F2] tool command of several tokens",
    text: families.toolCommandSubject(scope, "text", "words.count"),
    rest: "cmd.tool.text.words.count",
    family: "tool_command",
  },
  {
    title: "[UTP-1.4-F3] PMO command",
    text: `${PREFIX}cmd.sys.pmo.internal.fork_join`,
    rest: "cmd.sys.pmo.internal.fork_join",
    family: "pmo_command",
  },
  {
    title: "[UTP-1.4-F4] UI action",
    text: `${PREFIX}cmd.sys.ui.action`,
    rest: "cmd.sys.ui.action",
    family: "ui_action",
  },
  {
    title: "[UTP-1.4-F5] judge retry",
    text: `${PREFIX}cmd.sys.judge.retry`,
    rest: "cmd.sys.judge.retry",
    family: "judge_retry",
  },
  {
    title: "[UTP-1.4-F6] task event",
    text: families.taskEventSubject(scope, "helper"),
    rest: "evt.agent.helper.task",
    family: "task_event",
  },
  {
    title: "[UTP-1.4-F7] step event",
    text: families.stepEventSubject(scope, "helper"),
    rest: "evt.agent.helper.step",
    family: "step_event",
  },
  {
    title: "[UTP-1.4-F8] state event",
    text: families.stateEventSubject(scope, "helper"),
    rest: "evt.agent.helper.state",
    family: "state_event",
  },
  {
    title: "[UTP-1.4-F9] inbox progress",
    text: `${PREFIX}evt.agent.helper.inbox_progress`,
    rest: "evt.agent.helper.inbox_progress",
    family: "inbox_progress",
  },
  {
    title: "[UTP-1.4-F10] UI action ack",
    text: families.uiActionAckSubject(scope),
    rest: "evt.sys.ui.action_ack",
    family: "ui_action_ack",
  },
  {
    title: "[UTP-1.4-F11] UI marker",
    text: families.uiMarkerSubject(scope),
    rest: "evt.sys.ui.marker",
    family: "ui_marker",
  },
  {
    title: "[UTP-1.4-F12] chunk",
    text: families.chunkStreamSubject(scope, "helper"),
    rest: "str.agent.helper.chunk",
    family: "chunk",
  },
  {
    title: "[API-5-12] part",
    text: families.partStreamSubject(scope, "helper"),
    rest: "str.agent.helper.part",
    family: "part",
  },
  {
    title: "[API-5-12] part of a direct call",
    text: families.partStreamSubject(scope, "sys.api"),
    rest: "str.agent.sys_api.part",
    family: "part",
  },
  {
    title: "[API-5-10] gateway",
    text: families.gatewaySubject(scope, "tool.text", "put_card"),
    rest: "rpc.gateway.text.put_card",
    family: "gateway",
  },
];

describe("subject families", () => {
  test.each(cases)("$title", ({ text, rest, family }) => {
    expect(text).toBe(PREFIX + rest);
    const subject = parseSubject(text);
    expect(familyOf(subject)).toBe(family);
    const { category } = subject;
    if (category === "cmd" || category === "evt") expect(matchesPattern(streamPlan(category).filter, text)).toBe(true);
  });

  test.each([
    ["[UTP-1.4-F1] wakeups", workerWakeupSubscription("worker_generic"), "cmd.agent.worker_generic.wakeup"],
    ["[UTP-1.4-F3] commands to the project manager", pmoCommandSubscription(), "cmd.sys.pmo.internal.fork_join"],
    ["[UTP-1.4-F4] actions of people", uiActionSubscription(), "cmd.sys.ui.action"],
  ])("%s are what their subscription takes", (_title, { pattern }, rest) => {
    expect(matchesPattern(pattern, PREFIX + rest)).toBe(true);
  });

  test.each(families.GATEWAY_OPERATIONS)("[API-5-11] no stream captures the gateway's %s", (operation) => {
    const text = families.gatewaySubject(scope, "text", operation);
    expect(matchesPattern(streamPlan("cmd").filter, text)).toBe(false);
    expect(matchesPattern(streamPlan("evt").filter, text)).toBe(false);
  });

  const refusals: readonly (readonly [string, () => unknown])[] = [
    ["[UTP-1.1-9] a worker_target with a dot", () => workerWakeupSubscription("worker.generic")],
    ["[UTP-1.1-9] a worker_target that is a wildcard", () => workerWakeupSubscription("*")],
    ["[UTP-1.1-9] a blank worker_target", () => workerWakeupSubscription(" ")],
    ["[SEC-1-1] an agent id with a dot", () => families.taskEventSubject(scope, "a.b")],
    ["[SEC-1-1] a project id with a dot", () => families.uiMarkerSubject({ ...scope, projectId: "a.b" })],
    ["[SEC-1-1] a wildcard channel", () => families.uiMarkerSubject({ ...scope, channelId: "*" })],
    ["[SEC-1-1] a tail wildcard as an action", () => families.toolCommandSubject(scope, "text", ">")],
    ["[SEC-1-1] a stream of an agent with a blank", () => families.chunkStreamSubject(scope, "a b")],
  ];
  test.each(refusals)("%s is refused", (_title, build) => {
    expect(build).toThrow(refused);
  });

  const strangers = [
    "cmd.agent.pool.sleep",
    "cmd.sys.pmo.external",
    "cmd.sys.constructor.x",
    "cmd.user.u.x",
    "evt.agent.helper.toString",
    "evt.tool.t.x",
    "str.sys.ui.chunk",
    "rpc.gateway.text.drop",
  ];
  test.each(strangers)("%s belongs to no family", (rest) => {
    expect(familyOf(parseSubject(PREFIX + rest))).toBeUndefined();
  });
});
