// What the requests of the transcript are about: made over the API where it can be, so that every request finds its own.

import { createIds } from "@toolplane/engine";
import { createDatabase } from "@toolplane/engine/internal";
import { createWebhookDoor, createWebhookKey, listen } from "@toolplane/server/internal";
import { type AnswerBody, letPass, toolUpload } from "@toolplane/testkit";
import { type HttpStack, startHttpStack } from "../http-stack.ts";

export interface Held {
  readonly id: string;
  readonly lease: string;
}

export interface World extends AsyncDisposable {
  readonly http: HttpStack;
  /** Where it listens. */
  readonly url: string;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<AnswerBody>;
  makeCall(tool?: string): Promise<string>;
  /** A call in the hands of a service. */
  held(): Promise<Held>;
  settled(): Promise<string>;
  makeTurn(): Promise<AnswerBody & { readonly context_box_id: string }>;
  makeTool(): Promise<string>;
  deadLetter(): Promise<string>;
  openBatch(): Promise<string>;
  webhook(): Promise<string>;
  /** Something that is to be sent to a webhook. */
  delivery(): Promise<string>;
  resultCard(toolCallId: string): Promise<Readonly<Record<string, unknown>>>;
}

const TOOLS = [
  { name: "safe", options: { retry: "safe" } },
  { name: "held", target: "held", options: { retry: "safe" } },
  { name: "fragile", target: "fragile", options: { retry: "never" } },
  { name: "risky", target: "risky", options: { approval: "required" } },
  { name: "shown", options: { ui_allowed: true } },
] as const;

const llm_config = { provider: "script", script: { steps: [{ finish: "done" }] } };

export const startWorld = async (): Promise<World> => {
  const key = createWebhookKey("the key of the transcript");
  const door = { hosts: ["hooks.example.com"], allow: [], key: () => key, newId: createIds().uuid };
  const http = await startHttpStack({ tools: TOOLS }, { webhooks: createWebhookDoor(door) });
  const listener = await listen({ app: http.app, host: "127.0.0.1", port: 0 });
  const { engine, database, projectId } = http.t;
  let tools = 0;

  const post: World["post"] = async (path, body = {}, headers = {}) =>
    (await http.send("POST", `/projects/demo/${path}`, body, { headers })).body;
  const makeCall: World["makeCall"] = async (tool_name = "safe") => (await post("calls", { tool_name })).tool_call_id;
  const held: World["held"] = async () => {
    await makeCall("held");
    const { commands } = await post("tool-services/held/claim", { wait_seconds: 0 });
    return { id: commands[0]?.headers["CG-Tool-Call-Id"] ?? "", lease: commands[0]?.lease.id ?? "" };
  };

  const settled: World["settled"] = async () => {
    const { id, lease } = await held();
    await post(`calls/${id}/result`, { lease, status: "success", result: { ok: true } });
    return id;
  };
  const hook = { url: "https://hooks.example.com/in", secret: "a secret of some length" };
  const webhook: World["webhook"] = async () => (await post("webhooks", hook)).webhook_id;

  await post("profiles", { name: "plain", worker_target: "crew", llm_config });
  await post("profiles", { name: "person", worker_target: "ui_worker", llm_config });
  await post("agents", { agent_id: "helper", profile_name: "plain" });
  await post("agents", { agent_id: "clicker", profile_name: "person" });

  return {
    http,
    url: `http://${listener.address}`,
    post,
    makeCall,
    held,
    settled,
    webhook,
    async delivery() {
      const webhookId = await webhook();
      await settled();
      for (const reader of await engine.webhooks.readers()) await engine.webhooks.read(reader);
      const [made] = await engine.webhooks.deliveries(projectId, webhookId, { limit: 1 });
      return made?.deliveryId ?? "";
    },
    makeTurn: async () => (await post("agents/helper/turns", { instruction: "look around" })) as never,
    async makeTool() {
      tools += 1;
      const name = `tool_${tools}`;
      await post("tools", toolUpload({ name, options: { approval: "required" } }));
      return name;
    },
    async deadLetter() {
      await makeCall("fragile");
      const [call] = await engine.calls.claim({ projectId, target: "fragile", holder: "h", max: 1 });
      await letPass(http.t, call?.facts.toolCallId ?? "", "lease");
      await engine.expire();
      return (await engine.deadLetters.list(projectId))[0]?.deadLetterId ?? "";
    },
    async openBatch() {
      const { id, lease } = await held();
      const batchId = `batch_${id}`;
      const facts = await engine.calls.facts({ projectId, toolCallId: id });
      const task = { agentId: "helper", targetStrategy: "reuse", instruction: "go" } as const;
      const tasks = [{ ...task, profileBoxId: "", inheritBoxIds: [] }];
      const batch = { ...facts, batchId, leaseId: lease, failFast: false, deadlineSeconds: 60, tasks };
      const db = createDatabase({ connection: { connectionString: database.url }, maxConnections: 1 });
      await db.transaction((tx) => engine.batches.open(batch, tx));
      await db.close();
      return batchId;
    },
    async resultCard(tool_call_id) {
      const { agentTurnId, lineage } = await engine.calls.facts({ projectId, toolCallId: tool_call_id });
      return {
        card_id: `card-of-${tool_call_id}`,
        project_id: projectId,
        type: "tool.result",
        content: {
          __type__: "ToolResultContent",
          status: "success",
          after_execution: "suspend",
          result: 1,
          error: null,
        },
        created_at: "2026-01-01T00:00:00.000Z",
        author_id: "tool.held",
        metadata: { ...lineage, function_name: "held", tool_call_id, agent_turn_id: agentTurnId },
        tool_calls: null,
        tool_call_id,
        ttl_seconds: null,
      };
    },
    async [Symbol.asyncDispose]() {
      await listener.close(0);
      await http[Symbol.asyncDispose]();
    },
  };
};
