import { type ToolDefinition, toolDefinitionSchema } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { AGENT, result } from "../../test/sample-cards.ts";
import { planTrust, resultTrust, type ToolTrust, type TrustInput } from "./trust.ts";

const definition = (target: string, options: object = {}): ToolDefinition =>
  toolDefinitionSchema.parse({
    tool_name: "echo",
    description: "",
    parameters: {},
    target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${target}.echo`,
    after_execution: "suspend",
    options,
  });

const bundledTargets = new Set(["bundled"]);

describe("where a tool's answers come from", () => {
  test.each<[string, TrustInput, ToolTrust["source"], ToolTrust["trust"]]>([
    ["a tool that is gone", {}, "unknown", "external"],
    ["a bundled target", { definition: definition("bundled"), bundledTargets }, "bundled", "local"],
    [
      "a bundled name on another target",
      { definition: definition("bundled2"), bundledTargets },
      "function",
      "external",
    ],
    [
      "an HTTP operation, even on a bundled target",
      { definition: definition("bundled", { openapi: {} }), bundledTargets },
      "http",
      "external",
    ],
    ["a web search", { definition: definition("web", { jina: {} }) }, "http", "external"],
    ["what a bridge registered", { definition: definition("files"), source: "mcp" }, "mcp", "external"],
    ["a host", { definition: definition("files"), source: "host" }, "host", "external"],
    ["what nobody vouched for", { definition: definition("text") }, "function", "external"],
    ["the engine's own", { definition: definition("text"), source: "internal" }, "internal", "local"],
  ])("[SEC-15-T5] %s", (_name, input, source, trust) => {
    expect(planTrust({ ...input, version: 2 })).toEqual({ source, trust, version: 2 });
  });

  test.each<[string, string, ToolTrust["trust"]]>([
    ["a tool service", "tool.text", "external"],
    ["an unknown author", "somebody", "external"],
    ["the worker for its own agent", AGENT, "local"],
    ["another agent", "bob", "external"],
    ["the watchdog", "worker.watchdog", "local"],
    ["the engine", "sys.api", "local"],
    ["the project manager, which delivers other agents' words", "sys.pmo", "external"],
    ["a batch", "sys.pmo.batch_manager", "external"],
  ])("[SEC-15-T5] a result by %s", (_name, author, trust) => {
    expect(resultTrust(result("c", { author }), () => planTrust({}), AGENT).trust).toBe(trust);
  });
});
