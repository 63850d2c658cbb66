import { describe, expect, test } from "vitest";
import { formatSubject } from "./subject.ts";
import { expandSubjectTemplate, parseToolTarget } from "./target-template.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const ids = { projectId: "demo", channelId: "u_7", agentId: "helper" };
const TEMPLATE = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.run";

describe("expansion", () => {
  const cases = [
    [TEMPLATE, "cg.v1r4.demo.u_7.cmd.tool.text.run"],
    ["cg.v1r4.demo.public.cmd.tool.text.run", "cg.v1r4.demo.public.cmd.tool.text.run"],
    ["cg.v1r4.{project_id}.{channel_id}.cmd.tool.{agent_id}.run", "cg.v1r4.demo.u_7.cmd.tool.helper.run"],
    [
      "cg.v1r4.{project_id}.{channel_id}.cmd.tool.pool_{agent_id}.{agent_id}.{agent_id}",
      "cg.v1r4.demo.u_7.cmd.tool.pool_helper.helper.helper",
    ],
    [
      "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.fork_join",
      "cg.v1r4.demo.u_7.cmd.sys.pmo.internal.fork_join",
    ],
  ] as const;
  test.each(cases)("[UTP-1.2-1] %s", (template, text) => {
    expect(formatSubject(expandSubjectTemplate(template, ids))).toBe(text);
  });

  const unexpanded = [
    "{tool_name}",
    "{agent_turn_id}",
    "{ agent_id }",
    "{AGENT_ID}",
    "{{agent_id}}",
    "$(agent_id)",
    "%7Bagent_id%7D",
    "{}",
    "{agent_id",
  ];
  test.each(unexpanded)("[UTP-1.2-2] %s is not expanded", (placeholder) => {
    expect(() => expandSubjectTemplate(`cg.v1r4.demo.public.cmd.tool.text.${placeholder}`, ids)).toThrow(refused);
  });

  const hostile = ["a.b", "x.cmd.tool.other", "*", ">", "", " ", "a b", "sys.api", "{project_id}", "$&", "é"];
  test.each(hostile)("[UTP-1.2-3] [UTP-W31] an id %j does not get in", (id) => {
    const template = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.{agent_id}";
    for (const key of ["projectId", "channelId", "agentId"] as const) {
      expect(() => expandSubjectTemplate(template, { ...ids, [key]: id }), key).toThrow(refused);
    }
  });

  test("[UTP-1.2-1] an id that is not asked for need not be a token", () => {
    expect(expandSubjectTemplate(TEMPLATE, { ...ids, agentId: "sys.api" }).target).toBe("text");
  });
});

describe("registration", () => {
  test("[SEC-1-2] the target is found in the subject's structure", () => {
    expect(parseToolTarget(TEMPLATE, "demo")).toEqual({
      template: TEMPLATE,
      target: "text",
      isPayloadStyle: false,
    });
    expect(parseToolTarget("cg.v1r4.demo.public.cmd.tool.text.a.b", "demo").target).toBe("text");
    expect(parseToolTarget("cg.v1r4.{project_id}.{channel_id}.cmd.tool.{agent_id}.run", "demo").target).toBeNull();
    expect(parseToolTarget("cg.v1r4.{project_id}.public.cmd.tool.w_{channel_id}.run", "demo").target).toBeNull();
  });

  const bad: readonly (readonly [string, unknown])[] = [
    ["nothing", ""],
    ["no string", { subject: TEMPLATE }],
    ["another project", "cg.v1r4.other.public.cmd.tool.text.run"],
    ["another version", "cg.v1r2.{project_id}.{channel_id}.cmd.tool.text.run"],
    ["a PMO subject", "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.fork_join"],
    ["an event", "cg.v1r4.{project_id}.{channel_id}.evt.agent.helper.task"],
    ["a doorbell", "cg.v1r4.{project_id}.{channel_id}.cmd.agent.pool.wakeup"],
    ["the gateway", "cg.v1r4.{project_id}.{channel_id}.rpc.gateway.text.settle"],
    ["a wildcard", "cg.v1r4.{project_id}.*.cmd.tool.text.run"],
    ["a tail wildcard", "cg.v1r4.{project_id}.public.cmd.tool.text.>"],
    ["the right words in the wrong place", "x.cg.v1r4.demo.public.cmd.tool.text.run"],
    ["the words inside the suffix of another kind", "cg.v1r4.demo.public.evt.sys.ui.cmd.tool.text"],
    ["an unknown placeholder", "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.{step_id}"],
    ["an agent in the place of the project", "cg.v1r4.{agent_id}.public.cmd.tool.text.run"],
    ["more placeholders than a subject has room for", `cg.v1r4.demo.public.cmd.tool.t.${"{project_id}".repeat(100)}`],
  ];
  test.each(bad)("[SEC-1-2] %s is refused", (_name, template) => {
    expect(() => parseToolTarget(template, "demo")).toThrow(refused);
  });
});
