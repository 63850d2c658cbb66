// A brain over the real SDK, asking a local endpoint that answers what it is told.

import { parseAllowedOrigin } from "@toolplane/egress/policy";
import { type ModelReply, type ModelServer, startModelServer } from "@toolplane/testkit";
import { afterEach } from "vitest";
import { createBrainSource } from "../src/brains/brain-source.ts";
import { testRequest } from "./brain-request.ts";
import { createTestClock, type TestClock } from "./test-clock.ts";

export const KEY = "sk-s3cr3t-0123456789";
const TOOLS = ["count_words", "echo"].map((name) => ({
  type: "function" as const,
  function: { name, description: `${name}.`, parameters: { type: "object", properties: { text: { type: "string" } } } },
}));

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

export const setUp = async (
  replies: readonly ModelReply[],
  config: object = {},
  clockFor: (server: ModelServer) => TestClock = () => createTestClock(),
) => {
  server = await startModelServer(replies);
  const clock = clockFor(server);
  const logged: string[] = [];
  const write = (message: string, fields?: object): number => logged.push(JSON.stringify([message, fields]));
  const source = createBrainSource({
    clock,
    secret: ({ name }) => (name === "MODEL_KEY" ? KEY : undefined),
    allowOrigins: [parseAllowedOrigin(server.origin)],
    log: { info: write, warn: write, error: write },
  });
  const given = testRequest(
    { tools: TOOLS },
    { model: "test-model", api_base: server.url, api_key: "env:MODEL_KEY", ...config },
  );
  const think = async () => (await source(given.request.profile)).think(given.request);
  return { ...given, clock, think, logged, server };
};
