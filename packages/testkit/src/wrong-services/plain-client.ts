// Over HTTP, with nothing but `fetch`, as a program without the sdk would do it.

import { type Command, type Habits, isRecord, type Json, payloadOf } from "./habits.ts";
import type { Answer, ServiceClient, ServiceConnection } from "./service-client.ts";

interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const CLAIM_SECONDS = 5;
const LOST = 409;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const createPlainClient = (
  habits: Habits,
  connection: ServiceConnection,
  stopped: AbortSignal,
): ServiceClient => {
  const { url, projectId, target } = connection;
  const authorization = habits.authorization(connection.token);

  const send = async (method: "GET" | "POST", path: string, body?: Json, sending: Sending = {}): Promise<Answer> => {
    const { headers = {}, signal = stopped } = sending;
    try {
      const response = await fetch(`${url}/projects/${projectId}${path}`, {
        method,
        headers: { "content-type": "application/json", ...authorization, ...headers },
        signal: signal === stopped ? stopped : AbortSignal.any([signal, stopped]),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: parse(await response.text()) };
    } catch {
      return { status: 0, body: undefined };
    }
  };

  const leaseOf = ({ lease }: Command): Json => ({ lease: lease.id });

  return {
    async begin() {
      for (const definition of habits.definitions(target)) await send("POST", "/tools", definition);
      for (const { path, body } of habits.extraWrites(projectId)) await send("POST", path, body);
    },
    async claim(max) {
      const asked = { max, wait_seconds: CLAIM_SECONDS };
      const { status, body } = await send("POST", `/tool-services/${target}/claim`, asked);
      return status === 200 && isRecord(body) && Array.isArray(body.commands)
        ? (body.commands as Command[])
        : undefined;
    },
    async card(_command, callId, signal) {
      const { status, body } = await send("GET", `/calls/${callId}/card`, undefined, { signal });
      return status === 200 && isRecord(body) ? body : undefined;
    },
    async callOnCard(command) {
      const { body } = await send("GET", `/cards/${String(payloadOf(command).tool_call_card_id)}`);
      return isRecord(body) ? String(body.tool_call_id) : "";
    },
    async beat(command, callId) {
      const { status, body } = await send("POST", `/calls/${callId}/heartbeat`, leaseOf(command));
      return { lost: status === LOST, cancel: isRecord(body) && body.cancel === true };
    },
    async release(command, callId) {
      await send("POST", `/calls/${callId}/release`, leaseOf(command));
    },
    settle: async (_command, address, body, headers) =>
      (await send("POST", `/calls/${address}/result`, body, { headers })).status,
    putCard: (_command, card, headers) => send("POST", "/cards", card, { headers }),
    report: async (_command, callback, headers) => (await send("POST", "/reports", callback, { headers })).status,
    close: async () => {},
  };
};
