// What people run: `toolplane up`, a tool service in a second process, callers in a third. Callers speak HTTP; the service
// speaks HTTP too, or NATS with a server of its own that keeps its streams on disk.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startNats } from "@toolplane/testkit";
import type { Way } from "./in-process.ts";
import { ARGUMENTS, countWords } from "./tool.ts";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The first line of stdout that begins so; a child that ends before is an error. */
const lineOf = async (child: ReturnType<typeof spawn>, prefix: string): Promise<string> => {
  if (child.stdout === null) throw new RangeError("the child has no stdout");
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith(prefix)) return line;
  throw new RangeError(`the child ended before it said "${prefix}"`);
};

const stop = async (child: ReturnType<typeof spawn>): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
};

export const openOverNats = async (): Promise<Way> => {
  const nats = await startNats();
  const way = await openAcross("over NATS", nats.url);
  return {
    ...way,
    async [Symbol.asyncDispose]() {
      await way[Symbol.asyncDispose]();
      await nats.stop();
    },
  };
};

export const openOverHttp = (): Promise<Way> => openAcross("over HTTP");

const openAcross = async (name: string, natsUrl?: string): Promise<Way> => {
  const data = await mkdtemp(join(tmpdir(), "toolplane-bench-"));
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const up = spawn(
    process.execPath,
    [
      file("../../packages/server/bin/toolplane.mjs"),
      ...["up", "--demo", "--data", data, "--port", "0"],
      ...(natsUrl === undefined ? [] : ["--nats-url", natsUrl]),
    ],
    { stdio: [...stdio] },
  );
  const url = (await lineOf(up, "ready ")).slice("ready ".length);
  const token = (await readFile(join(data, "token"), "utf8")).trim();
  const env = { ...process.env, TOOLPLANE_URL: natsUrl ?? url, TOOLPLANE_TOKEN: token, TOOLPLANE_PROJECT: "demo" };
  const service = spawn(process.execPath, ["--conditions=source", file("./service.ts")], { stdio: [...stdio], env });
  await lineOf(service, "serving");
  const request = {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ tool_name: countWords.name, arguments: ARGUMENTS, wait_seconds: 30 }),
  };
  return {
    name,
    async call() {
      const response = await fetch(`${url}/projects/demo/calls`, request);
      const { status } = (await response.json()) as { status?: string };
      if (status !== "success") throw new RangeError(`a call ended as ${status ?? response.status}`);
    },
    async [Symbol.asyncDispose]() {
      await stop(service);
      await stop(up);
      await rm(data, { recursive: true, force: true });
    },
  };
};
