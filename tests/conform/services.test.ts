// The conformance kit against services people really use: this project's own, in every language it speaks.

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import {
  createFunctionExecutor,
  createIds,
  createRunner,
  definitionOf,
  serveTools,
  silentLog,
  startToolService,
  systemClock,
} from "@toolplane/sdk";
import { createHttpGateway } from "@toolplane/sdk/protocol";
import type { ConformOptions } from "@toolplane/server/internal";
import { expect, test } from "vitest";

import { type ConformReport, conform, countWords, createTerminal, failedIn, faultsIn, TARGET } from "./conform-run.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const report = async (options: Partial<ConformOptions>): Promise<ConformReport> => {
  const { PATH = "" } = process.env;
  const env = { PATH, PYTHONPATH: "hosts/python", PYTHONDONTWRITEBYTECODE: "1", TOOLPLANE_BEAT_SECONDS: "1" };
  const terminal = createTerminal({ cwd: ROOT, env });
  const code = await conform({ ...options, json: true }, terminal);
  const said = JSON.parse(terminal.out()) as ConformReport;
  expect(code, terminal.err()).toBe(failedIn(said).length === 0 ? 0 : 1);
  return said;
};

test.concurrent("[API-2-11] serveTools keeps every clause that applies to one step", async ({ expect }) => {
  const said = await report({
    launch: async ({ url, token, projectId }) => {
      const options = { target: TARGET, url, token, project: projectId, log: silentLog, handleSignals: false };
      const serving = await serveTools([countWords], options);
      return { exited: serving.finished.then(() => "stopped"), stop: () => serving.stop({ drainMs: 0 }) };
    },
  });
  expect(faultsIn(said)).toEqual([]);
  expect(said.steps).toBe("one");
  expect(said.summary.not_applicable).toBe(8);
});

test.concurrent("the sdk's runner keeps every clause in two steps", async ({ expect }) => {
  const said = await report({
    launch: async ({ url, token, projectId }) => {
      const [clock, random, log] = [systemClock, Math.random, silentLog];
      const ids = createIds(clock.now);
      const gateway = createHttpGateway({ url, token, projectId, clock, random, ids, log });
      const place = { projectId, target: TARGET };
      await gateway.register(definitionOf(countWords, place));
      const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
      const executor = createFunctionExecutor({ tools: [countWords], sha256, ...place });
      const runner = createRunner({ gateway, executor, ...place, clock, ids, random, log, mode: "two-step" });
      const service = startToolService({ gateway, runner, target: TARGET, concurrency: 4, clock, random, log });
      return { exited: service.finished.then(() => "stopped"), stop: () => service.stop({ drainMs: 0 }) };
    },
  });
  expect(faultsIn(said)).toEqual([]);
  expect(said.steps).toBe("two");
  expect(said.summary.not_applicable).toBe(1);
});

test.concurrent("[API-6-8] the Python service keeps every clause that applies to it", async ({ expect }) => {
  const said = await report({ target: "python", command: ["python3", "examples/python-tool/text_tools.py"] });
  expect(faultsIn(said)).toEqual([]);
  expect(said.tool_name).toBe("longest_words");
});

/** What a service of curl and a shell leaves to the server: it looks at nothing a good server never sends. */
const LEFT_TO_THE_SERVER: readonly string[] = [
  "UTP-C07",
  "UTP-C08",
  "UTP-C11",
  "UTP-C13",
  "UTP-C14",
  "UTP-C15",
  "UTP-C16",
  "UTP-C17",
  "UTP-C22",
  "UTP-C45",
  "UTP-C46",
];

test.concurrent("the shell service keeps everything but the checks it leaves to the server", async ({ expect }) => {
  const said = await report({ target: "shell", command: ["sh", "examples/any-language/service.sh"] });
  expect(failedIn(said).filter((id) => !LEFT_TO_THE_SERVER.includes(id))).toEqual([]);
  expect(said.summary.pass).toBeGreaterThan(15);
});
