// The gateway on a real NATS server with the deployed users, over an engine that also has its HTTP door; and calls in every
// state to aim at.

import { openNatsLink } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { buildResult, HEADERS, isErrorCode, type WireError } from "@toolplane/protocol";
import { createNatsGateway } from "@toolplane/server/internal";
import { type AnswerBody, toolUpload } from "@toolplane/testkit";
import { type HttpStack, startHttpStack } from "../http/http-stack.ts";
import { type DeployedServer, type DeployedUser, startDeployedServer } from "./deployed-server.ts";
import type { Saying, WireClient, WireMessage } from "./wire-client.ts";

export interface AimedCall {
  readonly toolCallId: string;
  readonly turnId: string;
  readonly cardId: string;
  readonly lease: string;
  /** What a result card repeats of the call. */
  readonly lineage: Readonly<Record<string, string>>;
}

export interface GatewayAnswer {
  readonly status: number;
  readonly timestamp: number;
  readonly body: AnswerBody;
  readonly error: WireError | undefined;
}

export interface GatewayStack extends AsyncDisposable {
  readonly server: DeployedServer;
  readonly http: HttpStack;
  readonly text: WireClient;
  /** Asks as a user, on its own subject unless another is given. */
  ask(operation: string, body: unknown, saying?: AskedAs): Promise<GatewayAnswer>;
  /** A call of a tool; leased by `somebody` if asked for. */
  makeCall(tool: string, project?: string): Promise<AimedCall>;
  takeCall(tool: string): Promise<AimedCall>;
  openGateway(): Promise<{ stop(): Promise<void> }>;
}

export interface AskedAs extends Saying {
  readonly call?: AimedCall | undefined;
  readonly subject?: string | undefined;
  readonly client?: WireClient | undefined;
}

export const ELSEWHERE = "elsewhere";

export const TOOLS = [
  { name: "safe", target: "text", options: { retry: "safe" } },
  { name: "foreign", target: "other" },
  { name: "plain", target: "legacy", options: { service: "plain" } },
];

export const gatewayAt = (operation: string, actor = "text", project = "demo"): string =>
  `cg.v1r4.${project}.public.rpc.gateway.${actor}.${operation}`;

export const callHeaders = (call: AimedCall): Record<string, string> => ({
  [HEADERS.toolCallId]: call.toolCallId,
  [HEADERS.turnId]: call.turnId,
});

/** The protocol's result card of a call, and the payload that reports it. */
export const resultCard = (
  call: AimedCall,
  cardId = `card-${call.toolCallId}`,
  { toolName = "safe", authorId = "tool.text" } = {},
) =>
  buildResult(
    {
      cardId,
      createdAt: "2026-01-01T00:00:00.000Z",
      projectId: "demo",
      agentTurnId: call.turnId,
      toolCallId: call.toolCallId,
      authorId,
      toolName,
      afterExecution: "suspend",
      toolCallMetadata: call.lineage,
    },
    { status: "success", result: { ok: true } },
  );

export const readAnswer = ({ headers, payload }: WireMessage): GatewayAnswer => {
  const body = JSON.parse(payload) as AnswerBody;
  const error = isErrorCode(body?.error?.code) ? body?.error : undefined;
  return { status: Number(headers["CG-Status"]), timestamp: Number(headers[HEADERS.timestamp]), body, error };
};

export const openPlaneLink = (server: DeployedServer, user: DeployedUser = "engine") =>
  openNatsLink({ url: server.url(user), name: `test ${user}`, inboxPrefix: `_INBOX_${user}` }, { log: silentLog });

export const startGatewayStack = async (): Promise<GatewayStack> => {
  const server = await startDeployedServer();
  const http = await startHttpStack({ tools: TOOLS });
  const { engine, projectId } = http.t;
  await engine.projects.createProject({ project_id: ELSEWHERE, title: "Elsewhere", bootstrap: false }, "sys.test");
  await engine.tools.upsertTool(ELSEWHERE, toolUpload({ name: "far", target: "text" }));
  const text = await server.connect("text");
  const links: { close(): Promise<void> }[] = [];
  const gateways: { stop(): Promise<void> }[] = [];

  const openGateway = async (): Promise<{ stop(): Promise<void> }> => {
    const link = await openPlaneLink(server);
    links.push(link);
    const gateway = await createNatsGateway({ engine, link, log: silentLog });
    gateways.push(gateway);
    return gateway;
  };
  await openGateway();

  const makeCall = async (tool: string, project = projectId): Promise<AimedCall> => {
    const { toolCallId } = await engine.calls.dispatch({ projectId: project, toolName: tool, arguments: {} });
    const facts = await engine.calls.facts({ projectId: project, toolCallId });
    const lineage = { ...facts.lineage };
    return { toolCallId, turnId: facts.agentTurnId, cardId: facts.callCardId, lease: "", lineage };
  };
  const takeCall = async (tool: string): Promise<AimedCall> => {
    const call = await makeCall(tool);
    const holder = "somebody";
    const key = { projectId, toolCallId: call.toolCallId };
    const leased = await engine.calls.lease({ ...key, agentTurnId: call.turnId, callCardId: call.cardId, holder });
    return { ...call, lease: leased.lease.id };
  };

  return {
    server,
    http,
    text,
    async ask(operation, body, { call, subject = gatewayAt(operation), client = text, headers } = {}) {
      const payload = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
      const said = headers ?? (call === undefined ? {} : callHeaders(call));
      return readAnswer(await client.request(subject, payload, { headers: said }));
    },
    makeCall,
    takeCall,
    openGateway,
    async [Symbol.asyncDispose]() {
      await text[Symbol.asyncDispose]();
      for (const gateway of gateways) await gateway.stop();
      for (const link of links) await link.close();
      await http[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
};
