// `toolplane up` with hosts of two languages, as a person would configure them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { programArgv, until } from "@toolplane/testkit";
import { makeUsedPlace, type Place } from "../up/data.ts";
import { PATIENCE_MS, startUp, type UpProcess } from "../up/up-process.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export const NODE_HOST = [
  "node",
  ...programArgv(new URL("./end-to-end-programs/node-host.ts", import.meta.url)).slice(1),
];
export const PYTHON_HOST = [
  "python3",
  pathOf("../../hosts/python/toolplane_host.py"),
  pathOf("./end-to-end-programs/data_host.py"),
];

/** A busy machine takes longer than a second to start an interpreter; that is not what is tested here. */
export const PATIENT = { hello_ms: 20_000, startup_ms: 40_000 };

/** A host that never says a word, and is not given up while a test runs. */
export const MUTE_HOST = {
  name: "mute",
  command: ["sleep", "600"],
  limits: { hello_ms: 300_000, startup_ms: 300_000 },
};

export interface HostStack extends AsyncDisposable {
  readonly up: UpProcess;
  /** Makes a call and waits for its settlement. */
  call(toolName: string, args?: object, more?: object): Promise<{ readonly [key: string]: unknown }>;
  get(path: string): Promise<{ readonly [key: string]: unknown }>;
  hosts(): Promise<readonly HostEntry[]>;
}

export interface HostEntry {
  readonly name: string;
  readonly state: string;
  readonly problem: object | null;
  readonly tools: readonly string[];
  readonly processes: readonly { readonly pid: number }[];
  readonly [key: string]: unknown;
}

export const startHostStack = async (
  hosts: readonly object[],
  env: Readonly<Record<string, string>> = {},
): Promise<HostStack> => {
  const place: Place = await makeUsedPlace();
  // JSON is YAML.
  // The checkout may lie where another user cannot enter; own-user.test.ts is about users.
  const entries = hosts.map((entry) => ({ user: "inherit", ...entry }));
  writeFileSync(join(place.root, "toolplane.yaml"), JSON.stringify({ project: "demo", hosts: entries }));
  const up = startUp({ dataDir: place.dataDir, cwd: place.root, env });
  await up.ready();
  const get = async (path: string) => (await up.request("GET", `/projects/demo${path}`)).body;
  const listHosts = async (): Promise<readonly HostEntry[]> =>
    (await get("/hosts")).items as readonly object[] as readonly HostEntry[];
  const isTried = ({ name, state, problem }: HostEntry): boolean =>
    name === MUTE_HOST.name || state !== "starting" || problem !== null;
  await until("every host to be tried once", async () => (await listHosts()).every(isTried), PATIENCE_MS);
  return {
    up,
    get,
    hosts: listHosts,
    call: async (toolName, args = {}, more = {}) =>
      (
        await up.request("POST", "/projects/demo/calls", {
          tool_name: toolName,
          arguments: args,
          wait_seconds: 60,
          ...more,
        })
      ).body,
    async [Symbol.asyncDispose]() {
      await up[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
};

export interface Part {
  readonly tool_call_id: string;
  readonly index: number;
  readonly part: unknown;
}

/** Collects the parts of a call from the event stream, until `count` of them came. */
export const collectParts = async (
  { up }: HostStack,
  token: string,
  start: () => Promise<unknown>,
  count: number,
): Promise<readonly Part[]> => {
  const over = new AbortController();
  const response = await fetch(`${await up.ready()}/projects/demo/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: over.signal,
  });
  const parts: Part[] = [];
  const called = start();
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice("data:".length))
        .join("\n");
      if (!event.includes(".part")) continue;
      const body = JSON.parse(data) as { readonly payload?: Part } & Part;
      parts.push(body.payload ?? body);
    }
    if (parts.length >= count) break;
  }
  over.abort();
  await called;
  return parts;
};
