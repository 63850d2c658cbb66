// Fourteen ways a tool fails, in four kinds of programs: what the program's log, `calls show`, `why` and the model say of each. Everything is
// real: `toolplane up`, two services, two hosts, an agent whose model is an HTTP server, and the signals of an operating system.

import { fileURLToPath } from "node:url";
import { isRecord } from "@toolplane/protocol";
import { type ModelServer, startModelServer, until } from "@toolplane/testkit";
import type { Program } from "../../cli/program.ts";
import { requirePython, startNode, startPython } from "../../examples/programs.ts";
import { type HostStack, startHostStack } from "../../hosts/end-to-end-stack.ts";

export const KINDS = ["TypeScript service", "Python service", "Node host", "Python host"] as const;
export type Kind = (typeof KINDS)[number];

/** The name of a tool begins with this. */
const PREFIX: Readonly<Record<Kind, string>> = {
  "TypeScript service": "ts_",
  "Python service": "py_",
  "Node host": "node__",
  "Python host": "python__",
};

export const WAYS = [
  "throws",
  "throws no Error",
  "throws in a timer",
  "rejects",
  "times out",
  "bad result",
  "missing file",
  "refused connection",
  "assertion",
  "out of memory",
  "wrong schema",
  "lost lease",
  "canceled",
  "unknown outcome",
] as const;
export type WayName = (typeof WAYS)[number];

const TOOL: Readonly<Partial<Record<WayName, string>>> = {
  throws: "throws",
  "throws no Error": "no_error",
  rejects: "rejects",
  "times out": "too_slow",
  "bad result": "bad_result",
  "missing file": "missing_file",
  "refused connection": "refused",
  assertion: "asserts",
  "wrong schema": "typed",
};

export interface Seen {
  readonly callId: string;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  /** What `calls show` prints under `cause`. */
  readonly cause: string;
  readonly why: string;
  readonly todo: string;
  /** What the model is told; for calls that no model made, what it would be. */
  readonly model: string;
  /** Lines of the program's log, or of the server's for a host, that name the call or its tool. */
  readonly log: readonly string[];
}

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Enough for the module, and soon full. */
const SMALL_HEAP = "--max-old-space-size=96";
const HOSTS = [
  { name: "node", command: ["node", SMALL_HEAP, `${ROOT}bin/toolplane-host.mjs`, pathOf("./host.ts")] },
  { name: "python", command: ["python3", `${ROOT}hosts/python/toolplane_host.py`, pathOf("./ways.py")] },
];

interface Body {
  readonly [key: string]: unknown;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const NOTHING: Seen = {
  callId: "",
  status: "",
  code: "",
  message: "",
  cause: "",
  why: "",
  todo: "",
  model: "",
  log: [],
};

export interface FailingWorld extends AsyncDisposable {
  readonly stack: HostStack;
  /** All that happened, by kind and way. */
  seen(kind: Kind, way: WayName): Promise<Seen>;
}

const AGENT = "tester";
const targets = ["ts", "py"] as const;

/** Calls of one step at once: the model asks for every way that ends by itself, in all four programs. */
const asked = KINDS.flatMap((kind) =>
  WAYS.flatMap((way) => {
    const name = TOOL[way];
    return name === undefined ? [] : [{ kind, way, tool: `${PREFIX[kind]}${name}` }];
  }),
);

const startService = async ({ up }: HostStack, target: (typeof targets)[number]): Promise<Program> => {
  const made = await up.request("POST", "/tokens", { role: "tool", project_id: "demo", targets: [target] });
  const where = { url: await up.ready(), token: String((made.body as unknown as Body).token) };
  return target === "ts"
    ? startNode("tests/long/failing/service.ts", where)
    : startPython("tests/long/failing/ways.py", where);
};

const startAgent = async ({ up }: HostStack, model: ModelServer): Promise<void> => {
  const llm = { model: "small", api_base: model.url, stream: false };
  const tools = asked.map(({ tool }) => tool);
  const profile = { name: AGENT, worker_target: "worker_generic", allowed_tools: tools, llm_config: llm };
  await up.request("POST", "/projects/demo/profiles", profile);
  await up.request("POST", "/projects/demo/agents", { agent_id: AGENT, profile_name: AGENT });
};

/** What the model was shown of each call, by the id it gave it. */
const toldIn = (model: ModelServer): ReadonlyMap<string, string> =>
  new Map(
    (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
      message.role === "tool" ? [[textOf(message.tool_call_id), textOf(message.content)] as const] : [],
    ),
  );

export const startFailingWorld = async (): Promise<FailingWorld> => {
  requirePython();
  const toolCalls = asked.map(({ tool, way }, index) => ({
    id: `m${index}`,
    name: tool,
    arguments: way === "wrong schema" ? { n: "many" } : {},
  }));
  const model = await startModelServer([{ toolCalls }, { text: "Nothing worked." }]);
  const env = { TOOLPLANE_LEASE_SECONDS: "3", TOOLPLANE_EGRESS_ALLOW: model.origin };
  const limits = { hello_ms: 20_000, startup_ms: 40_000 };
  const stack = await startHostStack(
    HOSTS.map((host) => ({ ...host, pool: 2, timeout_seconds: 4, limits })),
    env,
  );
  const { up } = stack;
  const [ts, py] = [await startService(stack, "ts"), await startService(stack, "py")];
  const programs: Partial<Record<Kind, Program>> = { "TypeScript service": ts, "Python service": py };
  await startAgent(stack, model);

  const read = async (path: string): Promise<Body> => (await up.request("GET", path)).body as unknown as Body;
  const logOf = (kind: Kind): string => programs[kind]?.err() ?? up.stderr();
  const see = async (kind: Kind, callId: string, told: string | undefined): Promise<Seen> => {
    const path = `/projects/demo/calls/${callId}`;
    const [call, why] = [await read(path), await read(`${path}/why`)];
    const error = isRecord(call.error) ? call.error : {};
    const diagnostics = isRecord(call.diagnostics) ? call.diagnostics : {};
    return {
      callId,
      status: textOf(call.status),
      code: textOf(error.code),
      message: textOf(error.message),
      cause: textOf(diagnostics.stack),
      why: textOf(why.why),
      todo: textOf(why.todo),
      model: told ?? "",
      log: logOf(kind)
        .split("\n")
        .filter((line) => line.includes(callId)),
    };
  };

  /** It was refused before it was sent: only the turn has it. */
  const seeRefused = async (call: Body, told: string | undefined): Promise<Seen> => {
    const error = isRecord(call.error) ? call.error : {};
    const [code, message] = [textOf(error.code), textOf(error.message)];
    return { ...NOTHING, status: textOf(call.status), code, message, model: told ?? "" };
  };

  const known = new Map<string, Promise<Seen>>();
  const remember = (kind: Kind, way: WayName, seen: Promise<Seen>): void => void known.set(`${kind}/${way}`, seen);

  const runTurn = async (): Promise<void> => {
    const made = await up.request("POST", `/projects/demo/agents/${AGENT}/turns`, {
      instruction: "try",
      wait_seconds: 60,
    });
    const turn = await read(`/projects/demo/turns/${String((made.body as unknown as Body).agent_turn_id)}?detail=full`);
    const told = toldIn(model);
    const [step] = turn.steps as readonly { readonly calls: readonly Body[] }[];
    for (const [index, { kind, way, tool }] of asked.entries()) {
      const call = step?.calls.find(({ tool_name: name }) => name === tool);
      const text = told.get(`m${index}`);
      remember(kind, way, call?.local === true ? seeRefused(call, text) : see(kind, textOf(call?.tool_call_id), text));
    }
  };

  const startCall = async (kind: Kind, tool: string): Promise<string> => {
    const body = { tool_name: `${PREFIX[kind]}${tool}`, arguments: {} };
    return String(((await up.request("POST", "/projects/demo/calls", body)).body as unknown as Body).tool_call_id);
  };
  const statusOf = async (callId: string): Promise<string> =>
    textOf((await read(`/projects/demo/calls/${callId}`)).status);
  const running = (callId: string): Promise<void> =>
    until("the call to run", async () => (await statusOf(callId)) === "running");
  const over = async (callId: string): Promise<void> => {
    await read(`/projects/demo/calls/${callId}?wait_seconds=30`);
  };

  const runCanceled = (kind: Kind) => async (): Promise<Seen> => {
    const callId = await startCall(kind, "waits");
    await running(callId);
    await up.request("POST", `/projects/demo/calls/${callId}/cancel`, { reason: "not needed" });
    await until("the program to hear of it", () => logOf(kind).includes(callId));
    return see(kind, callId, undefined);
  };
  const runOver = (kind: Kind, tool: string) => async (): Promise<Seen> => {
    const callId = await startCall(kind, tool);
    await over(callId);
    return see(kind, callId, undefined);
  };
  /** The process of a host that runs the call. */
  const killHost = async (kind: Kind): Promise<Seen> => {
    const callId = await startCall(kind, "waits");
    await running(callId);
    const name = kind === "Node host" ? "node" : "python";
    await until("the host to have it", async () => {
      const host = (await stack.hosts()).find((entry) => entry.name === name);
      const busy = (host?.processes ?? []).filter((one) => (one as unknown as Body).in_flight !== 0);
      for (const { pid } of busy) process.kill(pid, "SIGKILL");
      return busy.length > 0;
    });
    await over(callId);
    return see(kind, callId, undefined);
  };

  await runTurn();
  for (const kind of KINDS) remember(kind, "canceled", runCanceled(kind)());
  remember("Node host", "throws in a timer", runOver("Node host", "late")());
  await Promise.all(known.values());
  for (const kind of ["Node host", "Python host"] as const) {
    remember(kind, "out of memory", runOver(kind, "hungry")());
    await known.get(`${kind}/out of memory`);
    remember(kind, "unknown outcome", killHost(kind));
  }
  // A service that is stopped for longer than its lease, and comes back; then one that is killed.
  const stopService = (kind: Kind, signal: NodeJS.Signals) => async (): Promise<Seen> => {
    const program = programs[kind];
    const callId = await startCall(kind, "waits");
    await running(callId);
    program?.signal(signal);
    await over(callId);
    if (signal === "SIGSTOP") {
      program?.signal("SIGCONT");
      await until("the service to notice", () => logOf(kind).includes(callId), 5_000).catch(() => undefined);
    }
    return see(kind, callId, undefined);
  };
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) {
    const way = signal === "SIGSTOP" ? "lost lease" : "unknown outcome";
    for (const kind of ["TypeScript service", "Python service"] as const)
      remember(kind, way, stopService(kind, signal)());
    await Promise.all(known.values());
  }

  const again = await startService(stack, "ts");
  programs["TypeScript service"] = again;
  remember("TypeScript service", "throws in a timer", runOver("TypeScript service", "late")());
  await Promise.all(known.values());

  return {
    stack,
    async seen(kind, way) {
      const found = known.get(`${kind}/${way}`);
      return (
        found ?? { callId: "", status: "", code: "", message: "", cause: "", why: "", todo: "", model: "", log: [] }
      );
    },
    async [Symbol.asyncDispose]() {
      for (const program of [ts, py, again]) await program[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
      await model.close();
    },
  };
};
