// Throws the documents of the corpus at a server that runs, with the tokens of one project: its operator's and its tool
// service's. What can be accepted is brought to where it is accepted: a result is the result of a call that is held.

import { randomUUID } from "node:crypto";
import { type Answer, readAnswer, until } from "@toolplane/testkit";
import type { Hostile } from "./corpus.ts";
import type { Heavy } from "./heavy.ts";

export type Thrown = Hostile | Heavy;

export interface AttackerOptions {
  readonly url: string;
  readonly project: string;
  readonly operator: string;
  readonly service: string;
  /** Where a model answers with a document as arguments of a tool; told which one beforehand. */
  readonly tellModel?: ((text: string) => void) | undefined;
}

export interface Attacker {
  prepare(item: Thrown): Promise<() => Promise<Answer>>;
  /** Calls with arguments of 830 kB that a person has to approve. */
  askForApproval(count: number): Promise<void>;
  /** Reads back what was accepted, in every way there is. */
  readonly reads: readonly { readonly name: string; read(): Promise<Answer> }[];
}

const definition = (name: string, parameters: unknown = { type: "object" }, target = "test") => ({
  tool_name: name,
  parameters,
  target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${target}.run`,
  after_execution: "suspend",
});

/** States of a turn whose model is asked. */
const BUSY: ReadonlySet<unknown> = new Set(["queued", "pending", "dispatched", "running"]);

interface Held {
  readonly id: string;
  readonly lease: string;
}

export const createAttacker = async (options: AttackerOptions): Promise<Attacker> => {
  const { url, operator, service } = options;
  const at = `/projects/${options.project}`;
  const cards: string[] = [];

  const send = async (token: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const method = body === undefined ? "GET" : "POST";
    const all = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers };
    const response = await fetch(url + path, { method, headers: all, ...(body === undefined ? {} : { body }) });
    return readAnswer(response);
  };
  const post = (path: string, body: unknown) => send(operator, path, JSON.stringify(body));

  const hold = async (): Promise<Held> => {
    await post(`${at}/calls`, { tool_name: "sample", arguments: {} });
    const claim = JSON.stringify({ max: 1, wait_seconds: 20 });
    const { body } = await send(service, `${at}/tool-services/test/claim`, claim);
    const [command] = body.commands;
    return { id: command?.headers["CG-Tool-Call-Id"] ?? "", lease: command?.lease.id ?? "" };
  };

  const registered = async (parameters: unknown): Promise<string> => {
    const name = `t_${randomUUID().slice(0, 8)}`;
    // To a target nobody claims from, so that what is held is always the sample's.
    const answer = await post(`${at}/tools`, definition(name, parameters, "nobody"));
    if (answer.status >= 300) throw new TypeError(`not registered: ${JSON.stringify(answer.body)}`);
    return name;
  };

  const throwHostile = async (item: Hostile): Promise<() => Promise<Answer>> => {
    switch (item.door) {
      case "yaml":
        return () => send(service, `${at}/tools`, item.text, { "content-type": "application/yaml" });
      case "tool": {
        const text = JSON.stringify(definition(`t_${randomUUID().slice(0, 8)}`, item.parameters));
        return () => send(service, `${at}/tools`, text);
      }
      case "call": {
        const tool = await registered(item.parameters);
        const text = JSON.stringify({ tool_name: tool, arguments: item.arguments });
        return () => send(operator, `${at}/calls`, text);
      }
      case "batch":
        return () => send(operator, `${at}/calls/batch`, item.text);
      case "result": {
        const { id, lease } = await hold();
        const text = `{"lease":"${lease}",${item.text.slice(1)}`;
        return () => send(service, `${at}/calls/${id}/result`, text);
      }
    }
  };

  const settle = async (text: string): Promise<() => Promise<Answer>> => {
    const { id, lease } = await hold();
    const body = `{"lease":"${lease}","status":"success","result":${text}}`;
    return async () => {
      const answer = await send(service, `${at}/calls/${id}/result`, body);
      if (answer.status === 200) cards.push(answer.body.tool_result_card_id);
      return answer;
    };
  };

  const throwHeavy = async ({ door, text, name }: Heavy): Promise<() => Promise<Answer>> => {
    switch (door) {
      case "result":
        return settle(text);
      case "arguments":
        return () => send(operator, `${at}/calls`, callOf(text));
      case "batch": {
        const body = name.startsWith("100 calls") ? `[${callsOf(text)}]` : `[${callOf(text)}]`;
        return () => send(operator, `${at}/calls/batch`, body);
      }
      case "card": {
        const { id } = await hold();
        const content = `{"__type__":"ToolResultContent","status":"success","after_execution":"suspend","error":null,"result":${text}}`;
        const card = {
          card_id: randomUUID(),
          project_id: options.project,
          type: "tool.result",
          author_id: "tool.test",
          created_at: new Date().toISOString(),
          tool_call_id: id,
          metadata: { function_name: "sample" },
        };
        return () => send(service, `${at}/cards`, `${JSON.stringify(card).slice(0, -1)},"content":${content}}`);
      }
      case "parts": {
        const { id, lease } = await hold();
        const body = `{"lease":"${lease}","parts":[{"index":0,"part":${text}}]}`;
        return () => send(service, `${at}/calls/${id}/parts`, body);
      }
      case "report": {
        const { id, lease } = await hold();
        const headers = { "cg-tool-call-id": id, "cg-lease": lease };
        return () => send(service, `${at}/reports`, `{"status":"success","a":${text}}`, headers);
      }
      case "profile":
        return () =>
          send(operator, `${at}/profiles`, `{"name":"p","worker_target":"nobody","llm_config":{"a":${text}}}`);
      case "yaml-profile":
        return () => send(operator, `${at}/profiles`, text, { "content-type": "application/yaml" });
      case "form": {
        const type = "multipart/form-data; boundary=edge";
        const body = `--edge\r\nContent-Disposition: form-data; name="file"; filename="t.yaml"\r\n\r\n${text}\r\n--edge--\r\n`;
        return () => send(service, `${at}/tools`, body, { "content-type": type });
      }
      case "instruction":
        return () => send(operator, `${at}/agents/idler/turns`, `{"instruction":${text}}`);
      case "step": {
        // An agent has one turn at a time, and the tool it asks for is one that nobody serves.
        const agent = `a_${randomUUID().slice(0, 8)}`;
        await post(`${at}/agents`, { agent_id: agent, profile: "thinker" });
        return () => {
          options.tellModel?.(`{"a":${text}}`);
          return send(operator, `${at}/agents/${agent}/turns`, '{"instruction":"go","wait_seconds":3}');
        };
      }
      case "stream": {
        const agent = `a_${randomUUID().slice(0, 8)}`;
        await post(`${at}/agents`, { agent_id: agent, profile: "streamer" });
        return async () => {
          options.tellModel?.(`{"a":${text}}`);
          const begun = await send(operator, `${at}/agents/${agent}/turns`, '{"instruction":"go"}');
          const look = () => send(operator, `${at}/turns/${begun.body.agent_turn_id}`);
          await until("the model to be heard", async () => !BUSY.has((await look()).body.status), 60_000);
          return look();
        };
      }
      case "host":
      case "host-state":
        return () =>
          post(`${at}/calls`, {
            tool_name: "heavy__answer",
            arguments: { document: name, as: door },
            wait_seconds: 60,
          });
    }
  };

  const callOf = (text: string): string => `{"tool_name":"open","arguments":{"a":${text}}}`;
  // The documents of a batch are written one after the other; they are read here, where it disturbs nobody.
  const callsOf = (text: string): string =>
    (JSON.parse(`[${text}]`) as unknown[]).map((value) => callOf(JSON.stringify(value))).join(",");

  await post(`${at}/tools`, definition("sample"));
  await post(`${at}/tools`, definition("open", { type: "object" }, "nobody"));
  await post(`${at}/tools`, {
    ...definition("asked", { type: "object" }, "nobody"),
    options: { approval: "required" },
  });

  return {
    askForApproval: async (count) => {
      const rows = Array.from({ length: 83_000 }, (_, i) => `{"a":${i % 10}}`).join(",");
      for (let made = 0; made < count; made++)
        await send(operator, `${at}/calls`, `{"tool_name":"asked","arguments":{"a":[${rows}]}}`);
    },
    prepare: (item) => ("fate" in item ? throwHostile(item) : throwHeavy(item)),
    reads: [
      { name: "a list of 200 calls with their results", read: () => send(operator, `${at}/calls?limit=200`) },
      {
        name: "every accepted result card in one batch",
        read: () => post(`${at}/cards/batch`, { card_ids: cards.slice(0, 100) }),
      },
      { name: "all tools in one list", read: () => send(operator, `${at}/tools?limit=200`) },
      {
        name: "a claim of 256 commands with their cards",
        read: () =>
          send(operator, `${at}/calls?limit=1`).then(() =>
            send(service, `${at}/tool-services/nobody/claim`, JSON.stringify({ max: 256, wait_seconds: 0 })),
          ),
      },
      { name: "all events from the beginning", read: () => readEvents() },
      {
        name: "four readers of large calls that await approval",
        read: async () => {
          const readers = [1, 2, 3, 4].map(() => send(operator, `${at}/approvals?limit=500`));
          return (await Promise.all(readers))[0] as Answer;
        },
      },
    ],
  };

  async function readEvents(): Promise<Answer> {
    const enough = new AbortController();
    const headers = { authorization: `Bearer ${operator}`, "last-event-id": "0-0" };
    const response = await fetch(`${url}${at}/events`, { headers, signal: enough.signal });
    const timer = setTimeout(() => enough.abort(), 5_000);
    let length = 0;
    try {
      for await (const chunk of response.body ?? []) length += (chunk as Uint8Array).length;
    } catch {
      // The time was up; what came until then is what was asked for.
    }
    clearTimeout(timer);
    return { status: response.status, headers: response.headers, body: { length } as never };
  }
};
