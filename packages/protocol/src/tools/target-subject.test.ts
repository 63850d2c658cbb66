import { describe, expect, test } from "vitest";
import { checkTargetSubject, commandSubject, isExternalTool } from "./target-subject.ts";

const IDS = { projectId: "p1", channelId: "u_1", agentId: "helper" };
const T = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.run";

describe("commandSubject", () => {
  test("[UTP-D29] the command goes to the definition's target_subject, filled with the caller's ids", () => {
    expect(commandSubject({ target_subject: T }, IDS)).toBe("cg.v1r4.p1.u_1.cmd.tool.text.run");
    expect(commandSubject({ target_subject: `${T}.{agent_id}` }, IDS)).toBe("cg.v1r4.p1.u_1.cmd.tool.text.run.helper");
  });

  test("an internal tool goes to the project manager", () => {
    const target_subject = "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.fork_join";
    expect(commandSubject({ target_subject }, IDS)).toBe("cg.v1r4.p1.u_1.cmd.sys.pmo.internal.fork_join");
  });

  test.each([
    ["an id with a dot", T, { ...IDS, channelId: "a.b" }],
    ["an id with a wildcard", T, { ...IDS, channelId: ">" }],
    ["another project in a stored definition", T.replace("{project_id}", "p2"), IDS],
    ["a project that follows the channel", T.replace("{project_id}", "{channel_id}"), IDS],
    ["a doorbell in a stored definition", "cg.v1r4.{project_id}.{channel_id}.cmd.agent.x.wakeup", IDS],
    ["an event in a stored definition", "cg.v1r4.{project_id}.{channel_id}.evt.tool.x.y", IDS],
    ["a tool under the project manager's target", T.replace("text", "pmo"), IDS],
    ["a caller named like the project manager", T.replace("text", "{agent_id}"), { ...IDS, agentId: "pmo" }],
    ["another engine subject", "cg.v1r4.{project_id}.{channel_id}.cmd.sys.ui.action", IDS],
    ["an engine subject that is not a function", "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.stop", IDS],
  ])("[UTP-W19] [SEC-1-R1] %s does not lead out of the project", (_name, target_subject, ids) => {
    expect(() => commandSubject({ target_subject }, ids)).toThrow(
      expect.objectContaining({ code: "protocol_violation" }),
    );
  });
});

test("[UTP-11.1-R2] nobody registers a tool under the project manager's target", () => {
  const scope = { projectId: "p1", version: "v1r4" };
  expect(() => checkTargetSubject(T, scope)).not.toThrow();
  for (const internal of [true, false]) {
    expect(() => checkTargetSubject(T.replace("text", "pmo"), { ...scope, internal })).toThrow(
      expect.objectContaining({ code: "bad_request", message: expect.stringContaining("the project manager's own") }),
    );
  }
});

test.each([
  ["an ordinary tool", "count_words", T, true],
  ["a built-in name", "Fork_Join", T, false],
  ["submit_result", "submit_result", T, false],
  ["an engine subject", "x", "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.x", false],
  ["an engine subject with .cmd.tool. inside", "x", "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.cmd.tool.x", false],
])("[UTP-5.2-13] %s: shown and deletable is %s", (_name, tool_name, target_subject, external) => {
  expect(isExternalTool({ tool_name, target_subject })).toBe(external);
});
