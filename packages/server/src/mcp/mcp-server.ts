// The MCP server of one request: the SDK speaks the protocol, these handlers know the plane. It is made for each request and keeps
// nothing, so any process can answer any request.
//   The SDK (2.x) has no methods of the tasks extension for the revision 2026-07-28. Its requests come here under names of our own
//   (mcp-front.ts), and a tool result that is a task is written by mcp-front.ts.

import {
  CLIENT_CAPABILITIES_META_KEY,
  fromJsonSchema,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isRecord, type JsonObject, parseWith, UsageError } from "@toolplane/protocol";
import { z } from "zod";
import { canTask, type McpAsk, type McpClient, TASKS_EXTENSION } from "./mcp-ask.ts";
import { callTool, type TaskMade } from "./mcp-calls.ts";
import { invalidParams, tasksNeeded } from "./mcp-errors.ts";
import { readAnswers } from "./mcp-input.ts";
import { planProgress, readLogPart } from "./mcp-progress.ts";
import { cancelTask, getTask, updateTask } from "./mcp-tasks.ts";
import { listMcpTools } from "./mcp-tools.ts";
import { RUN_AGENT, runAgent, runAgentTool } from "./run-agent.ts";

export interface McpServerOptions {
  readonly era: McpClient["era"];
  readonly version: string;
  /** Told instead of an answer, because the SDK cannot write a result that is a task. */
  readonly taskMade: (task: TaskMade) => void;
  /** A tool whose arguments are repeated in headers (`x-mcp-header`): the SDK compares them. */
  readonly headerTool?: { readonly name: string; readonly inputSchema: JsonObject } | undefined;
}

const INSTRUCTIONS =
  "Calls of these tools are durable: each is stored before it runs and gets exactly one result. " +
  'Put a key of your own into _meta["toolplane/idempotency_key"] to ask for the same call again after a lost connection.';

/** Requests of the tasks extension, under the names by which the SDK lets them through. */
export const TASK_METHODS: ReadonlyMap<string, string> = new Map(
  ["tasks/get", "tasks/update", "tasks/cancel"].map((method) => [method, `toolplane/${method}`]),
);

const taskParams = z.looseObject({
  taskId: z.string().min(1).max(128),
  inputResponses: z.unknown().optional(),
});
const anyResult = z.looseObject({});

type LogLevel = Parameters<ServerContext["mcpReq"]["log"]>[0];

const tellPart = (context: ServerContext) => {
  let before = 0;
  return (part: Parameters<typeof planProgress>[0], progressToken: string | number | undefined): void => {
    const line = readLogPart(part);
    if (line !== undefined) {
      void context.mcpReq.log(line.level as LogLevel, line.data).catch(() => undefined);
      return;
    }
    if (progressToken === undefined) return;
    const progress = planProgress(part, before);
    before = progress.progress;
    // The client may have gone; the call goes on without it.
    void context.mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, ...progress } })
      .catch(() => undefined);
  };
};

export const createMcpServer = (options: McpServerOptions): McpServer => {
  const { era, headerTool } = options;
  const mcp = new McpServer(
    { name: "toolplane", title: "Toolplane", version: options.version },
    {
      capabilities: {
        tools: { listChanged: true },
        logging: {},
        ...(era === "modern" ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
      },
      instructions: INSTRUCTIONS,
    },
  );
  const { server } = mcp;
  if (headerTool !== undefined)
    mcp.registerTool(headerTool.name, { inputSchema: fromJsonSchema(headerTool.inputSchema) }, () => ({ content: [] }));

  const clientOf = (context: ServerContext): McpClient => {
    const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
    const said = envelope[CLIENT_CAPABILITIES_META_KEY];
    return { era, capabilities: isRecord(said) ? said : server.getClientCapabilities() };
  };

  server.setRequestHandler("tools/list", async ({ params }, context) => {
    const ask = askIn(context);
    const { tools, nextCursor } = await ask.inLine(() => listMcpTools({ ...ask, who: ask.caller }, params?.cursor));
    const isFirst = params?.cursor === undefined;
    const more = isFirst && ask.agents.length > 0 ? [runAgentTool(ask.agents)] : [];
    return { tools: [...more, ...tools], ...(nextCursor === undefined ? {} : { nextCursor }) } as never;
  });

  server.setRequestHandler("tools/call", async ({ params }, context) => {
    // A canceled request gets no answer: its stream would stay open until the client goes.
    context.mcpReq.signal.addEventListener("abort", () => context.http?.closeSSE?.(), { once: true });
    const ask = askIn(context);
    using _place = ask.waits();
    if (params.name === RUN_AGENT && ask.agents.length > 0)
      return (await runAgent(ask, { arguments: params.arguments ?? {}, meta: context.mcpReq._meta })) as never;
    const outcome = await callTool(ask, {
      name: params.name,
      arguments: params.arguments ?? {},
      meta: context.mcpReq._meta,
      client: clientOf(context),
      inputResponses: inputResponsesOf(context),
      requestState: context.mcpReq.requestState<string>(),
      canceled: context.mcpReq.signal,
      heard: tellPart(context),
    });
    if (outcome.kind === "result") return outcome.result as never;
    if (outcome.kind === "input") return outcome.input as never;
    options.taskMade(outcome.task);
    return { content: [] };
  });

  for (const [method, name] of TASK_METHODS)
    server.setRequestHandler(name, { params: taskParams, result: anyResult }, async (params, context) => {
      const client = clientOf(context);
      const ask = askIn(context);
      if (!canTask(client)) throw tasksNeeded();
      const { taskId, inputResponses } = parseWith(taskParams, params, method);
      if (method === "tasks/get") return { ...(await getTask(ask, client, taskId)) };
      if (method === "tasks/cancel") {
        await cancelTask(ask, taskId);
        return {};
      }
      const answers = readAnswers(inputResponses ?? inputResponsesOf(context));
      if (answers === undefined) throw invalidParams("each of inputResponses is an object, by the key of its request");
      await updateTask(ask, client, taskId, answers);
      return {};
    });
  return mcp;
};

/** The rights of the request that the handler runs for (mcp-front.ts). */
const askIn = (context: ServerContext): McpAsk => {
  const ask = context.http?.authInfo?.extra?.ask as McpAsk | undefined;
  if (ask === undefined) throw new UsageError("an MCP request came without its caller");
  return ask;
};

/** The SDK takes answers that are not objects out of the request; a request with such an answer is refused. */
const inputResponsesOf = ({ mcpReq }: ServerContext): unknown => {
  if ((mcpReq.droppedInputResponseKeys?.length ?? 0) > 0)
    throw invalidParams("each of inputResponses is an object, by the key of its request");
  return mcpReq.inputResponses;
};
