import { definitionHash, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
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
  const served = await registerTools(definitions, gateway, sha256, {});
  expect(served.map(({ toolName, sent }) => [toolName, sent])).toEqual([
    ["a", true],
    ["b", false],
    ["c", true],
  ]);
  expect(gateway.registered).toEqual([define("a"), define("c")]);
});

test("[SEC-guard-7] what is in force beside a person's options is this code; a version that waits is not", async () => {
  const clock = createManualClock();
  const inForce = { definitionHash: "merged", targetSubject: subject("text"), pin: "strict" as const };
  const gateway = createScriptedGateway({
    clock,
    script: {
      findTool: async () => ({ definitionHash: "before", targetSubject: subject("text") }),
      register: async ({ tool_name: name }) => {
        if (name === "merged") return { inForce };
        if (name === "waits") return { inForce, pending: { version: 3, weakens: ["options.approval"] } };
        return { inForce: undefined, pending: { version: 4, weakens: [] } };
      },
    },
  });
  const served = await registerTools([define("merged"), define("waits"), define("gone")], gateway, sha256, {});
  expect(served).toEqual([
    {
      toolName: "merged",
      sent: true,
      definitionHash: "merged",
      ownHash: definitionHash(define("merged"), sha256),
      pin: "strict",
      isOlder: false,
      waits: undefined,
    },
    {
      toolName: "waits",
      sent: false,
      definitionHash: definitionHash(define("waits"), sha256),
      ownHash: definitionHash(define("waits"), sha256),
      isOlder: false,
      pin: "strict",
      waits:
        "version 3 of waits waits for a person because it weakens options.approval; calls go on under the accepted one; " +
        "to accept it run: toolplane tools accept waits --version 3",
    },
    {
      toolName: "gone",
      sent: false,
      definitionHash: definitionHash(define("gone"), sha256),
      ownHash: definitionHash(define("gone"), sha256),
      isOlder: false,
      pin: undefined,
      waits: "gone is not registered: a person deleted it; to accept it run: toolplane tools accept gone --version 4",
    },
  ]);
});

test("[API-6-S15] a definition that the plane refuses is named by its tool, once", async () => {
  const refusalOf = async (message: string, code: "bad_request" | "upstream_unavailable" = "bad_request") => {
    const register = async (): Promise<never> => {
      throw new ToolplaneError(code, message, { detail: { path: "$.options.retry_policy" } });
    };
    const gateway = createScriptedGateway({ clock: createManualClock(), script: { register } });
    const thrown: unknown = await registerTools([definition], gateway, sha256, {}).catch((error: unknown) => error);
    return thrown;
  };
  const said = "options.retry_policy needs retry: safe; a tool that is not safe is never tried again";
  expect(await refusalOf(said)).toMatchObject({
    code: "bad_request",
    message: `count_words: ${said}`,
    detail: { path: "$.options.retry_policy" },
  });
  expect(await refusalOf("count_words: no")).toMatchObject({ message: "count_words: no" });
  expect(await refusalOf("the database is away", "upstream_unavailable")).toMatchObject({
    message: "the database is away",
  });
});
