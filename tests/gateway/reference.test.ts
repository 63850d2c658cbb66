// docs/reference/nats-gateway.md says what the gateway does: its tables name everything there is, and its conversation is
// held word for word.

import { readFileSync } from "node:fs";
import type { InboundRequest, Responder } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { GATEWAY_OPERATIONS } from "@toolplane/protocol";
import { createNatsGateway } from "@toolplane/server";
import { startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { TOOLS } from "./gateway-stack.ts";

const page = readFileSync(new URL("../../docs/reference/nats-gateway.md", import.meta.url), "utf8");

interface Exchange {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: string;
  readonly answer: unknown;
}

const after = (lines: readonly string[], mark: string): string[] =>
  lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));

const parseExchange = (text: string): Exchange => {
  const lines = text.split("\n");
  const [subject = "", ...sent] = after(lines, "> ");
  const [status = "", answer = ""] = after(lines, "< ");
  return {
    subject,
    headers: Object.fromEntries(sent.slice(0, -1).map((line) => line.split(": ") as [string, string])),
    body: sent.at(-1) ?? "",
    status: status.slice("CG-Status: ".length),
    answer: JSON.parse(answer),
  };
};

const conversation = (): readonly Exchange[] => {
  const block = page.slice(page.lastIndexOf("```text\n") + "```text\n".length, page.lastIndexOf("\n```"));
  return block.split("\n\n").map(parseExchange);
};

/** What the page leaves open matches anything of its kind. */
const pattern = (value: unknown): unknown => {
  if (value === "..." || value === "{lease}") return expect.any(String);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, pattern(inner)] as const);
  return entries.length === 0 ? expect.any(Object) : Object.fromEntries(entries);
};

test("[API-5-7] every operation has its row, and no row is about anything else", () => {
  const table = page.slice(page.indexOf("## Operations"), page.indexOf("## Errors"));
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.map((row) => row.split("`")[1])).toEqual([...GATEWAY_OPERATIONS]);
});

test("[API-5-7] the conversation on the page is what the gateway says", async () => {
  await using t = await startTestEngine({ tools: TOOLS });
  let respond: Responder | undefined;
  const respondWith = async (_at: string, _queue: string, responder: Responder) => {
    respond = responder;
    return { stop: async () => {} };
  };
  await createNatsGateway({ engine: t.engine, link: { respond: respondWith }, log: silentLog });
  const { toolCallId } = await t.engine.calls.dispatch({ projectId: "demo", toolName: "safe", arguments: {} });
  const { agentTurnId, callCardId } = await t.engine.calls.facts({ projectId: "demo", toolCallId });
  const ids: Record<string, string> = { call: toolCallId, turn: agentTurnId, card: callCardId };
  const fill = (text: string): string =>
    Object.entries(ids).reduce((filled, [name, id]) => filled.replaceAll(`{${name}}`, id), text);

  const exchanges = conversation();
  expect(exchanges.length).toBe(7);
  for (const { subject, headers, body, status, answer } of exchanges) {
    const filled = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
    const inbound: InboundRequest = { subject, headers: filled, payload: fill(body), reply: "_INBOX_text.1" };
    const reply = await respond?.(inbound);
    expect([reply?.headers["CG-Status"], JSON.parse(reply?.payload ?? "")]).toEqual([status, pattern(answer)]);
    ids.lease ??= (JSON.parse(reply?.payload ?? "") as { lease: { id: string } }).lease.id;
  }
});
