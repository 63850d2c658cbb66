import { definitionHash, type ToolDefinition } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createScriptedGateway } from "../../test/scripted-gateway.ts";
import { sha256 } from "../ports/ids.ts";
import { defineTool, definitionOf } from "../tools/define-tool.ts";
import { planRegistration, registerTools } from "./register-tools.ts";

const define = (name: string): ToolDefinition =>
  definitionOf(defineTool({ name, description: name, parameters: { type: "object" }, run: () => 1 }), {
    projectId: "demo",
    target: "text",
  });
const definition = define("count_words");
const hash = definitionHash(definition, sha256);
const subject = (target: string): string => `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${target}.count_words`;

describe("planRegistration", () => {
  test.each([
    ["[API-6-4] a new tool is sent", undefined, "send"],
    ["[API-6-4] the same hash is left alone", { definitionHash: hash, targetSubject: subject("text") }, "keep"],
    ["[API-6-4] another hash is sent", { definitionHash: "old", targetSubject: subject("text") }, "send"],
    ["[API-6-5] another target's name is refused", { definitionHash: "old", targetSubject: subject("shop") }, "refuse"],
    ["an owner that is not said is the server's to judge", { definitionHash: "old", targetSubject: "" }, "send"],
  ])("%s", (_name, existing, action) => {
    expect(planRegistration(existing, definition, hash).action).toBe(action);
  });

  test("[API-6-5] the conflict names the tool and its owner", () => {
    const plan = planRegistration({ definitionHash: "old", targetSubject: subject("shop") }, definition, hash);
    expect(plan).toMatchObject({
      error: { code: "conflict", message: expect.stringMatching(/count_words belongs to target shop/) },
    });
  });
});

test("[API-6-4] only what changed is sent", async () => {
  const clock = createManualClock();
  const definitions = [define("a"), define("b"), define("c")];
  const known = new Map([
    ["b", { definitionHash: definitionHash(define("b"), sha256), targetSubject: subject("text") }],
  ]);
  const gateway = createScriptedGateway({ clock, script: { findTool: async (name) => known.get(name) } });
  expect(await registerTools(definitions, gateway, sha256, {})).toEqual(["a", "c"]);
  expect(gateway.registered).toEqual([define("a"), define("c")]);
});
