// The HTTP side of MCP. The application has checked token, project, Host and Origin; here a request is read, its era is found, and
// it is given to the SDK with the rights of its caller. The caller's token goes no further.
//   - From 2026-07-28 on each request stands for itself.
//   - Before that a client has a session (mcp-sessions.ts), and is served without one when this process does not know it.

import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type ServerEventBus,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Engine } from "@toolplane/engine";
import { isRecord, isToolplaneError } from "@toolplane/protocol";
import { watchCaller } from "../http/authenticate.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { parseBody, readBody } from "../http/read-body.ts";
import { LARGE_BODY_BYTES, type RouteCall } from "../http/route.ts";
import { readVersion } from "../up/version.ts";
import { createToolFilter, type McpAddress, parseAddress, refuseUnknownNames } from "./mcp-address.ts";
import type { McpAsk } from "./mcp-ask.ts";
import type { TaskMade } from "./mcp-calls.ts";
import { createMcpServer, TASK_METHODS } from "./mcp-server.ts";
import { createMcpSessions, type McpSessions } from "./mcp-sessions.ts";
import { endWith, isStream, rpcError } from "./mcp-streams.ts";
import { planMcpTool } from "./mcp-tools.ts";
import { createMcpWaits } from "./mcp-waits.ts";
import { watchTools } from "./watch-tools.ts";

type Call = RouteCall<unknown, unknown>;

/** One request on its way. */
interface Work {
  readonly call: Call;
  readonly body: unknown;
  readonly address: McpAddress;
  /** Aborted when the client goes, its token ends, or the server drains. */
  readonly hold: AbortSignal;
  /** The same without the client: it may come back. */
  readonly lost: AbortSignal;
  /** Gives back what the request holds. */
  readonly ended: () => void;
}

/** Proxies close silent connections; a comment keeps them open. */
const KEEP_ALIVE_MS = 15_000;
const PARSE_ERROR = -32_700;
const INVALID_PARAMS = -32_602;
const HEADER_MISMATCH = -32_020;
const SESSION_GONE = -32_001;

const version = readVersion();

/** The sessions of one engine; they end with it. */
const sessionsOf = (() => {
  const known = new WeakMap<Engine, McpSessions>();
  return (engine: Engine): McpSessions => {
    const found = known.get(engine) ?? createMcpSessions(KEEP_ALIVE_MS);
    known.set(engine, found);
    return found;
  };
})();

/** A request that stands for itself is held until its answer is over, and its waits end with it. */
const NO_PLACE = (): Disposable => ({ [Symbol.dispose]: () => undefined });

const askOf = ({ call, address }: Work, signal: AbortSignal, waits = NO_PLACE): McpAsk => ({
  engine: call.engine,
  toolHosts: call.toolHosts,
  caller: call.caller,
  own: call.own,
  inLine: call.inLine,
  log: call.log,
  projectId: call.params.project ?? "",
  isWanted: createToolFilter(address.tools),
  agents: address.agents,
  signal,
  gone: call.context.req.raw.signal,
  waits,
});

/** The SDK hands this to the handlers of the request; it holds no token. */
const authOf = (call: Call, ask: McpAsk) => ({
  token: "",
  clientId: call.caller.token.tokenId,
  scopes: [],
  extra: { ask },
});

/** A request without its body, which has been read; with other headers if they are given. */
const bare = (call: Call, headers: Headers): Request => {
  const { raw } = call.context.req;
  return new Request(raw.url, { method: raw.method, headers, signal: raw.signal });
};

/** A request of the tasks extension under the name by which the SDK lets it through; undefined when its headers name another task. */
const renameTask = (body: Record<string, unknown>, headers: Headers): Record<string, unknown> | undefined => {
  const method = String(body.method);
  const name = TASK_METHODS.get(method);
  if (name === undefined) return body;
  const said = headers.get("mcp-name");
  const taskId = isRecord(body.params) ? body.params.taskId : undefined;
  if (said !== null && said !== taskId) return undefined;
  if (headers.get("mcp-method") === method) headers.set("mcp-method", name);
  headers.delete("mcp-name");
  return { ...body, method: name };
};

/** The SDK's answer with the task in the place of the result. */
const withTask = async (response: Response, task: TaskMade): Promise<Response> => {
  const answer = (await response.json()) as { readonly result?: { readonly _meta?: unknown } };
  return Response.json({ ...answer, result: { ...task, _meta: answer.result?._meta ?? {} } });
};

/** The called tool, if its schema asks for arguments in headers. */
const findHeaderTool = async ({ engine, projectId }: McpAsk, body: unknown) => {
  if (!isRecord(body) || body.method !== "tools/call" || !isRecord(body.params)) return undefined;
  const { name } = body.params;
  if (typeof name !== "string") return undefined;
  const [found] = await engine.definitions.resolve([{ projectId, toolName: name }]);
  const { inputSchema } = found === undefined ? { inputSchema: {} } : planMcpTool(found.definition);
  return JSON.stringify(inputSchema).includes('"x-mcp-header"') ? { name, inputSchema } : undefined;
};

const toolsBus = (engine: Engine, projectId: string): ServerEventBus => ({
  publish: () => undefined,
  subscribe: (listener) => watchTools(engine, projectId, () => listener({ kind: "tools_list_changed" })),
});

const serveModern = async (work: Work): Promise<Response> => {
  const { call, body, hold, ended } = work;
  const headers = new Headers(call.context.req.raw.headers);
  const renamed = isRecord(body) ? renameTask(body, headers) : body;
  if (renamed === undefined) {
    ended();
    return rpcError(400, HEADER_MISMATCH, "the Mcp-Name header names another task than the body", {
      id: isRecord(body) ? body.id : null,
    });
  }
  const ask = askOf(work, hold);
  let task: TaskMade | undefined;
  const headerTool = await findHeaderTool(ask, body);
  const handler = createMcpHandler(
    () =>
      createMcpServer({
        era: "modern",
        version,
        headerTool,
        taskMade: (made) => {
          task = made;
        },
      }),
    { legacy: "reject", bus: toolsBus(call.engine, ask.projectId), keepAliveMs: KEEP_ALIVE_MS },
  );
  const response = await handler.fetch(bare(call, headers), { parsedBody: renamed, authInfo: authOf(call, ask) });
  const answer = task === undefined ? response : await withTask(response, task);
  if (isStream(answer)) return endWith(answer, hold, ended);
  ended();
  return answer;
};

const tellOfChanges = (call: Call, server: ReturnType<typeof createMcpServer>): (() => void) =>
  watchTools(call.engine, call.params.project ?? "", () => server.sendToolListChanged());

const makeLegacyServer = () => createMcpServer({ era: "legacy", version, taskMade: () => undefined });

const serveLegacy = async (work: Work): Promise<Response> => {
  const { call, body, hold, ended } = work;
  const { raw } = call.context.req;
  const sessions = sessionsOf(call.engine);
  const owner = `${call.caller.token.tokenId} ${call.params.project}`;
  const id = raw.headers.get("mcp-session-id") ?? "";
  if (sessions.hasEnded(owner, id)) {
    ended();
    return rpcError(404, SESSION_GONE, "the session has ended: begin a new one with initialize");
  }
  const known = isInitializeRequest(body) ? await sessions.open(owner, makeLegacyServer) : sessions.find(owner, id);
  // The wait of a session's call goes on when its connection breaks: the client may fetch the result when it comes back.
  const { answered, waits } = createMcpWaits(ended);
  const ask = known === undefined ? askOf(work, hold) : askOf(work, work.lost, waits);
  const options = { authInfo: authOf(call, ask), ...(body === undefined ? {} : { parsedBody: body }) };
  if (known !== undefined) {
    const response = await known.transport.handleRequest(bare(call, new Headers(raw.headers)), options);
    if (raw.method === "DELETE") await sessions.close(owner, id);
    if (!isStream(response)) {
      answered();
      return response;
    }
    const stop = raw.method === "GET" ? tellOfChanges(call, known.server) : () => undefined;
    return endWith(response, hold, () => {
      stop();
      answered();
    });
  }
  if (raw.method !== "POST") {
    ended();
    return rpcError(raw.method === "GET" ? 405 : 404, SESSION_GONE, "this process has no such session");
  }
  const server = makeLegacyServer();
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    keepAliveMs: KEEP_ALIVE_MS,
  });
  await server.connect(transport);
  const response = await transport.handleRequest(bare(call, new Headers(raw.headers)), options);
  const finish = (): void => {
    ended();
    void server.close().catch(() => undefined);
  };
  if (isStream(response)) return endWith(response, hold, finish);
  finish();
  return response;
};

const NAMES_KNOWN: ReadonlySet<string> = new Set(["tools/call", "tasks/get", "tasks/update", "tasks/cancel"]);

/** Names are looked up when a client begins or lists, not with every call: a tool that goes away takes only itself away. */
const isFirst = ({ method, headers }: Request, body: unknown): boolean =>
  method === "POST" && !headers.has("mcp-session-id") && !(isRecord(body) && NAMES_KNOWN.has(String(body.method)));

/** What the address asks for; a refusal answers the request in the protocol's own form. */
const readAddress = async ({ context, engine, params }: Call, body: unknown): Promise<McpAddress | Response> => {
  try {
    const address = parseAddress(new URL(context.req.url).searchParams);
    if (isFirst(context.req.raw, body)) await refuseUnknownNames(engine, params.project ?? "", address);
    return address;
  } catch (error) {
    if (!isToolplaneError(error) || error.code !== "bad_request") throw error;
    return rpcError(400, INVALID_PARAMS, error.message, { id: isRecord(body) ? body.id : null });
  }
};

export const serveMcp = async (call: Call): Promise<Response> => {
  const { context, engine, caller, draining } = call;
  const { raw } = context.req;
  await refuseUnknownProject(engine, call.params.project ?? "");
  let body: unknown;
  if (raw.method === "POST")
    try {
      body = await parseBody(await readBody(raw, LARGE_BODY_BYTES), { keepsIntegers: true });
    } catch (error) {
      if (!isToolplaneError(error) || error.code !== "bad_request") throw error;
      return rpcError(400, PARSE_ERROR, error.message);
    }
  const address = await readAddress(call, body);
  if (address instanceof Response) return address;
  // A request counts as answered when its stream begins, but its token is watched and its place is taken until the stream ends.
  const place = call.batchReaders.open(caller.token.tokenId);
  const watch = watchCaller(engine, caller);
  const lost = AbortSignal.any([draining, watch.ended]);
  const hold = AbortSignal.any([raw.signal, lost]);
  let isHeld = true;
  const ended = (): void => {
    if (!isHeld) return;
    isHeld = false;
    place[Symbol.dispose]();
    watch[Symbol.dispose]();
  };
  try {
    const isLegacy = raw.method !== "POST" || (await isLegacyRequest(bare(call, new Headers(raw.headers)), body));
    return await (isLegacy ? serveLegacy : serveModern)({ call, body, address, hold, lost, ended });
  } catch (error) {
    ended();
    throw error;
  }
};
