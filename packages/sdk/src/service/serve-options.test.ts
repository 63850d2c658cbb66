// Options of serveTools that can never work, refused before the server is asked for anything.

import { expect, test } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createScriptedGateway } from "../../test/scripted-gateway.ts";
import { defineTool } from "../tools/define-tool.ts";
import { type ServeOptions, serveTools } from "./serve-tools.ts";

const echo = defineTool({
  name: "echo",
  description: "Says it again",
  parameters: { type: "object" },
  run: async () => 1,
});

test.each([
  [{ drainMs: -1 }, "drainMs must be a number of milliseconds, 0 or more, not -1"],
  [{ drainMs: Number.NaN }, "drainMs must be a number of milliseconds, 0 or more, not NaN"],
  [{ drainMs: "5s" }, "drainMs must be a number of milliseconds, 0 or more, not 5s"],
  [{ envs: { a: "OTHER" } }, "envs names a variable for a, but no tool here declares a variable"],
  [{ envs: { a: "no name" } }, "envs.a must be the name of a variable that a tool may have, not no name"],
  [{ envs: { a: "TOOLPLANE_TOKEN" } }, "envs.a must be the name of a variable that a tool may have"],
  [{ maxAttempts: 0 }, "maxAttempts must be a whole number from 1 on"],
  [{ maxAttempts: 1.5 }, "maxAttempts must be a whole number from 1 on"],
  [{ maxAttempts: Number.NaN }, "maxAttempts must be a whole number from 1 on"],
])("serveTools refuses %j", async (given, words) => {
  const gateway = createScriptedGateway({ clock: createManualClock() });
  const options = { target: "text", gateway, handleSignals: false, env: {}, ...given } as ServeOptions;
  const serve = async () => {
    await using _serving = await serveTools([echo], options);
  };
  await expect(serve()).rejects.toThrow(words);
  expect(gateway.registered).toEqual([]);
});

test("envs may name a parameter that only a registered definition fills, from a variable that the code declares", async () => {
  const gateway = createScriptedGateway({ clock: createManualClock() });
  const envs = { a: "OTHER" };
  const tools = [echo, { ...echo, name: "keyed", secrets: ["KEY"] }];
  await using _serving = await serveTools(tools, { target: "text", gateway, handleSignals: false, env: {}, envs });
  expect(gateway.registered).toHaveLength(2);
});
