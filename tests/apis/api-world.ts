// An engine with the service of API tools, and real servers on loopback that note what they were asked.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseAllowedOrigin } from "@toolplane/egress/policy";
import { type Engine, type EngineOptions, isSettled, systemClock } from "@toolplane/engine";
import type { JsonObject, JsonValue } from "@toolplane/protocol";
import type { Log, ToolService } from "@toolplane/sdk";
import { createApiEgress, createEnvSource, type EnvGrant, NO_OFFSET, serveApis } from "@toolplane/server/internal";
import { startTestEngine } from "@toolplane/testkit";

export interface Asked {
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Answerer = (asked: Asked, response: ServerResponse) => void;

export interface ApiServer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly asked: Asked[];
  /** How it answers from now on. */
  answer: Answerer;
}

export const answerJson =
  (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answerer =>
  (_asked, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

export const startApiServer = async (answer: Answerer = answerJson({ ok: true })): Promise<ApiServer> => {
  const asked: Asked[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString("utf8") };
      asked.push(one);
      api.answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const api: ApiServer = {
    origin: `http://127.0.0.1:${port}`,
    port,
    asked,
    answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return api;
};

export interface ApiWorld extends AsyncDisposable {
  readonly engine: Engine;
  readonly projectId: string;
  readonly lines: string[];
  /** Starts the service; calls that were made before wait for it. */
  serve(): ToolService;
  register(toolName: string, openapi: JsonObject, options?: JsonObject): Promise<void>;
  dispatch(toolName: string, args?: JsonObject): Promise<string>;
  settled(toolCallId: string): Promise<Settled>;
  call(toolName: string, args?: JsonObject): Promise<Settled>;
}

export interface Settled {
  readonly status: string;
  readonly result: JsonValue;
  readonly error: (JsonObject & { readonly code: string; readonly message: string }) | null;
}

export interface ApiWorldOptions {
  /** Origins that the operator allows. */
  readonly allow?: readonly string[];
  readonly grants?: readonly EnvGrant[];
  readonly env?: Readonly<Record<string, string>>;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Which addresses names have, and how they are reached. */
  readonly means?: Parameters<typeof createApiEgress>[1];
  readonly checkTool?: EngineOptions["checkTool"];
  readonly serviceEnvs?: Parameters<typeof serveApis>[0]["serviceEnvs"];
}

const PATIENCE_MS = 60_000;

export const openApiWorld = async ({
  allow = [],
  grants = [],
  env = {},
  resolve,
  means,
  serviceEnvs,
  checkTool,
}: ApiWorldOptions): Promise<ApiWorld> => {
  const test = await startTestEngine({ tools: [], checkTool });
  const { engine, projectId } = test;
  const lines: string[] = [];
  const say = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const log: Log = { info: say, warn: say, error: say };
  const egress = createApiEgress(allow.map(parseAllowedOrigin), means ?? (resolve === undefined ? {} : { resolve }));
  const services: ToolService[] = [];

  const settled = async (toolCallId: string): Promise<Settled> => {
    const key = { projectId, toolCallId };
    await engine.calls.wait(key, PATIENCE_MS);
    const view = await engine.calls.get(key);
    if (!isSettled(view.status)) return { status: view.status, result: null, error: null };
    const [card] = await engine.cards.getCards(projectId, [view.resultCardId ?? ""]);
    const content = card?.content as unknown as Pick<Settled, "result" | "error">;
    return { status: view.status, result: content.result, error: content.error };
  };
  const dispatch: ApiWorld["dispatch"] = async (toolName, args = {}) =>
    (await engine.calls.dispatch({ projectId, toolName, arguments: args })).toolCallId;

  return {
    engine,
    projectId,
    lines,
    serve() {
      const service = serveApis({
        engine,
        clock: systemClock,
        random: () => 0,
        log,
        offset: NO_OFFSET,
        holder: "API tools",
        egress,
        envSource: createEnvSource(grants, env),
        serviceEnvs,
      });
      services.push(service);
      return service;
    },
    async register(toolName, openapi, options = {}) {
      await engine.tools.upsertTool(projectId, {
        tool_name: toolName,
        parameters: { type: "object" },
        target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.openapi.${toolName}`,
        after_execution: "suspend",
        options: { openapi, ...options },
      });
    },
    dispatch,
    settled,
    call: async (toolName, args) => settled(await dispatch(toolName, args)),
    async [Symbol.asyncDispose]() {
      await Promise.all(services.map((service) => service.stop({ drainMs: 0 })));
      await egress.close();
      await test[Symbol.asyncDispose]();
    },
  };
};
