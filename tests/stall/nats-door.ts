// Throws documents at the gateway on NATS, as a tool service of one project would: at every operation that takes a large body.

import { randomUUID } from "node:crypto";
import { readAnswer } from "@toolplane/testkit";
import { connectWire } from "../gateway/wire-client.ts";
import type { Tenant } from "./measure.ts";

export type NatsDoor = "settle" | "exchange" | "put_card" | "report" | "parts" | "register";

export interface NatsThrower extends AsyncDisposable {
  prepare(door: NatsDoor, text: string): Promise<() => Promise<string>>;
}

const gatewayAt = (project: string, operation: string): string =>
  `cg.v1r4.${project}.public.rpc.gateway.test.${operation}`;

export const createNatsThrower = async (url: string, port: number, tenant: Tenant): Promise<NatsThrower> => {
  const { project, operator, service } = tenant;
  const wire = await connectWire({ port });

  const post = async (token: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return readAnswer(
      await fetch(`${url}/projects/${project}${path}`, { method: "POST", headers, body: JSON.stringify(body) }),
    );
  };

  const hold = async () => {
    await post(operator, "/calls", { tool_name: "sample", arguments: {} });
    const { body } = await post(service, "/tool-services/test/claim", { max: 1, wait_seconds: 20 });
    const [command] = body.commands;
    const headers = command?.headers ?? {};
    return { headers, id: headers["CG-Tool-Call-Id"] ?? "", lease: command?.lease.id ?? "" };
  };

  const bodyOf = (
    door: NatsDoor,
    text: string,
    { id, lease }: { readonly id: string; readonly lease: string },
  ): string => {
    const content = `{"__type__":"ToolResultContent","status":"success","after_execution":"suspend","error":null,"result":${text}}`;
    switch (door) {
      case "settle":
        return `{"lease":"${lease}","status":"success","result":${text}}`;
      case "exchange":
        return `{"results":[{"tool_call_id":"${id}","lease":"${lease}","status":"success","result":${text}}]}`;
      case "parts":
        return `{"lease":"${lease}","parts":[{"index":0,"part":${text}}]}`;
      case "report":
        return `{"status":"success","a":${text}}`;
      case "register":
        return `{"tool_name":"t","parameters":{"type":"object","default":${text}},"target_subject":"cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.run","after_execution":"suspend"}`;
      case "put_card": {
        const card = {
          card_id: randomUUID(),
          project_id: project,
          type: "tool.result",
          author_id: "tool.test",
          created_at: new Date().toISOString(),
          tool_call_id: id,
          metadata: { function_name: "sample" },
        };
        return `${JSON.stringify(card).slice(0, -1)},"content":${content}}`;
      }
    }
  };

  return {
    async prepare(door, text) {
      const held = await hold();
      const body = bodyOf(door, text, held);
      const headers = { ...held.headers, "CG-Lease": held.lease };
      return async () => {
        const answer = await wire.request(gatewayAt(project, door), body, { headers });
        const said = JSON.parse(answer.payload) as { readonly error?: { readonly code?: string } };
        return `${answer.headers["CG-Status"] ?? ""} ${said.error?.code ?? ""}`.trim();
      };
    },
    [Symbol.asyncDispose]: () => wire[Symbol.asyncDispose](),
  };
};
