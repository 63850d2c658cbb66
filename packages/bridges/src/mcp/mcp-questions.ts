// The questions that an MCP server asks a person through us (elicitation), answered by the policy of its entry. A question names no
// call, so a declined one is told to every call of the server that was running then.

import type { Client, ClientCapabilities } from "@modelcontextprotocol/client";
import { isRecord } from "@toolplane/protocol";
import type { Log } from "@toolplane/sdk";
import { type ElicitationPolicy, planElicitation } from "./plan-elicitation.ts";

export interface McpQuestionsOptions {
  readonly name: string;
  readonly elicitation: ElicitationPolicy;
  readonly log: Log;
}

export interface McpQuestions {
  /** A server asks only a client that says that it can be asked. */
  readonly capabilities: ClientCapabilities;
  answer(client: Client): void;
  /** What is declined from now until `stop`. */
  listen(): { readonly declined: readonly string[]; stop(): void };
}

const MOST_CHARS = 200;

/** The server's text in one line of words; it is data, and may be anything. */
const quote = (message: unknown): string => JSON.stringify(String(message).slice(0, MOST_CHARS));

/** Questions that the error of a call tells; a server may ask without end. */
const MAX_TOLD = 5;

export const createMcpQuestions = ({ name, elicitation, log }: McpQuestionsOptions): McpQuestions => {
  const listening = new Set<string[]>();
  return {
    capabilities: elicitation === "defaults" ? { elicitation: { form: {} } } : {},
    answer(client) {
      if (elicitation !== "defaults") return;
      client.setRequestHandler("elicitation/create", ({ params }) => {
        const asked: Readonly<Record<string, unknown>> = isRecord(params) ? params : {};
        const plan = planElicitation(asked);
        if (plan.action === "accept") {
          log.info("a question of an MCP server was answered with its defaults", {
            server: name,
            question: quote(asked.message),
          });
          return { action: "accept", content: { ...plan.content } };
        }
        const words = `MCP server ${name} asked ${quote(asked.message)}, and was declined: ${plan.reason}`;
        log.warn("a question of an MCP server was declined", { server: name, reason: words });
        for (const declined of listening) if (declined.length < MAX_TOLD) declined.push(words);
        return { action: "decline" };
      });
    },
    listen() {
      const declined: string[] = [];
      listening.add(declined);
      return { declined, stop: () => void listening.delete(declined) };
    },
  };
};
