// What the requests of the transcript are about: made over the API where it can be, so that every request finds its own.

import { createDatabase } from "@toolplane/engine/internal";
import { type AnswerBody, letPass, toolUpload } from "@toolplane/testkit";
import { type HttpStack, startHttpStack } from "../http-stack.ts";

export interface Held {
  readonly id: string;
  readonly lease: string;
}

export interface World extends AsyncDisposable {
  readonly http: HttpStack;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<AnswerBody>;
  makeCall(tool?: string): Promise<string>;
  /** A call in the hands of a service. */
  held(): Promise<Held>;
  settled(): Promise<string>;
  makeTurn(): Promise<AnswerBody & { readonly context_box_id: string }>;
  makeTool(): Promise<string>;
  deadLetter(): Promise<string>;
  openBatch(): Promise<string>;
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
  const http = await startHttpStack({ tools: TOOLS });
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

  await post("profiles", { name: "plain", worker_target: "crew", llm_config });
  await post("profiles", { name: "person", worker_target: "ui_worker", llm_config });
  await post("agents", { agent_id: "helper", profile_name: "plain" });
  await post("agents", { agent_id: "clicker", profile_name: "person" });

  return {
    http,
    post,
    makeCall,
    held,
    async settled() {
      const { id, lease } = await held();
      await post(`calls/${id}/result`, { lease, status: "success", result: { ok: true } });
      return id;
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
      const task = { agentId: "helper", targetStrategy: "reuse", targetRef: "helper", instruction: "go" } as const;
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
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
};
