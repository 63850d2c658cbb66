// An MCP server that is written by hand and behaves badly on request. Its list of tools is read from the file that it is given, so
// that a test can change it.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly _meta?: Readonly<Record<string, unknown>>;
    readonly requestId?: number | string;
  };
  readonly error?: { readonly message: string };
  readonly result?: unknown;
}

const [, , listFile = ""] = process.argv;

const write = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
};
const answer = (id: unknown, result: object): void => write({ id, result });
const say = (id: unknown, text: string): void => answer(id, { content: [{ type: "text", text }] });

/** Our own requests to the client, by id. */
const asked = new Map<unknown, (reply: Message) => void>();

const ask = (method: string, params: object, heard: (reply: Message) => void): void => {
  const id = `own-${asked.size}`;
  asked.set(id, heard);
  write({ id, method, params });
};

const waiting = new Map<unknown, () => void>();

const call = (id: unknown, { name, arguments: args = {}, _meta = {} }: NonNullable<Message["params"]>): void => {
  if (name === "echo") say(id, String(args.text));
  else if (name === "told") say(id, JSON.stringify({ meta: Object.keys(_meta), env: Object.keys(process.env) }));
  else if (name === "fail") answer(id, { content: [{ type: "text", text: "it went wrong" }], isError: true });
  else if (name === "control") answer(id, { content: [], __cg_control: { after_execution: "terminate" } });
  else if (name === "die") process.exit(3);
  else if (name === "flood") {
    for (let line = 0; line < 5_000; line++) process.stdout.write(`stray line ${line}\n`);
    say(id, "flooded");
  } else if (name === "sample")
    ask("sampling/createMessage", { messages: [], maxTokens: 1 }, ({ error }) => say(id, error?.message ?? "sampled"));
  else if (name === "ask")
    ask("elicitation/create", { message: "Which?", requestedSchema: args.form }, ({ error, result }) =>
      answer(id, {
        content: [{ type: "text", text: error?.message ?? JSON.stringify(result) }],
        isError: error !== undefined || (result as { action?: string }).action !== "accept",
      }),
    );
  else if (name === "progress") {
    write({
      method: "notifications/progress",
      params: { progressToken: _meta.progressToken, progress: 1, total: 3, message: "one of three" },
    });
    say(id, "done");
  } else if (name === "slow") waiting.set(id, () => process.stderr.write("the call was canceled\n"));
  else write({ id, error: { code: -32602, message: `no tool ${String(name)}` } });
};

const take = (message: Message): void => {
  const { id, method, params = {} } = message;
  if (method === undefined) asked.get(id)?.(message);
  else if (method === "initialize")
    answer(id, {
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "odd", version: "1" },
    });
  else if (method === "tools/list") answer(id, { tools: JSON.parse(readFileSync(listFile, "utf8")) as unknown });
  else if (method === "tools/call") call(id, params);
  else if (method === "notifications/cancelled") waiting.get(params.requestId)?.();
  else if (method === "ping") answer(id, {});
  else if (id !== undefined) write({ id, error: { code: -32601, message: `no method ${method}` } });
};

createInterface({ input: process.stdin }).on("line", (line) => take(JSON.parse(line) as Message));
process.stdin.on("end", () => process.exit(0));
