// The connection to one MCP server: opened when it is needed, opened again after it broke. Crashes in a row make the next start wait
// longer, and open a breaker (hosts/plan-restart.ts).
//   - What the server asks of us (sampling, roots, and elicitation unless the entry says otherwise) is refused in words: a tool's
//     server gets no model and no person.
//   - An `input_required` result (2026-07-28) is answered by the SDK through the same handlers; it gives the server's `requestState`
//     back as it came.
//   - The caller's token and identity are not passed on; a server gets the arguments and the trace.

import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type Transport,
} from "@modelcontextprotocol/client";
import { isToolplaneError, type JsonObject, ToolplaneError, understandError } from "@toolplane/protocol";
import type { Log } from "@toolplane/sdk";
import type { HostStatus } from "../hosts/host.ts";
import { DEFAULT_HOST_LIMITS } from "../hosts/host-limits.ts";
import { NO_CRASHES, planAnswered, planCrash, planStart, type RestartState } from "../hosts/plan-restart.ts";
import type { ListedMcpTool } from "./mcp-definitions.ts";
import { createMcpQuestions } from "./mcp-questions.ts";
import type { ElicitationPolicy } from "./plan-elicitation.ts";

/** The SDK's; of a program, also how it ended, its process and its last words. */
export type McpTransport = Transport & {
  why?(): string | undefined;
  pid?(): number | undefined;
  lastWords?(): readonly string[];
};

/** What people see of a server; in the form in which a host is shown. */
export type McpStatus = Pick<HostStatus, "processes" | "starts" | "crashes" | "breaker" | "lastFailure" | "lastStderr">;

export interface McpLinkOptions {
  readonly name: string;
  readonly version: string;
  /** How the server's questions to a person are answered. */
  readonly elicitation: ElicitationPolicy;
  /** A new transport for each connection. */
  readonly open: () => McpTransport;
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Told when the server says that its tools have changed, and after each new connection. */
  readonly toolsChanged: () => void;
}

export interface McpCallRequest {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly progress: (progress: JsonObject) => void;
}

export interface McpCallAnswer {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  /** Questions of the server that were declined while the call ran, in words. */
  readonly declined: readonly string[];
}

export interface McpLink {
  listTools(signal: AbortSignal): Promise<readonly ListedMcpTool[]>;
  /** Rejects with `outcome_unknown` when the connection broke after the request had been sent. */
  callTool(request: McpCallRequest): Promise<McpCallAnswer>;
  status(): McpStatus;
  close(): Promise<void>;
}

const CONNECT_MS = 30_000;

const refuseRequest = (name: string, method: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.MethodNotFound,
    `${method} is refused: Toolplane calls the tools of ${name} and gives it no model, no person and no files`,
  );

interface Connected {
  readonly client: Client;
  readonly why: () => string | undefined;
}

const isClosed = (error: unknown): boolean => error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed;

export const createMcpLink = (options: McpLinkOptions): McpLink => {
  const { name, log, now } = options;
  const stopped = new AbortController();
  const questions = createMcpQuestions(options);
  let restarts: RestartState = NO_CRASHES;
  let current: Promise<Connected> | undefined;
  let isUp = false;
  let transport: McpTransport | undefined;
  let [starts, crashes, inFlight, answered, startedAt] = [0, 0, 0, 0, 0];
  let lastFailure: string | undefined;

  const crashed = (why: string): void => {
    restarts = planCrash(restarts, now(), DEFAULT_HOST_LIMITS, options.random());
    crashes += 1;
    lastFailure = why;
  };

  const connect = async (): Promise<Connected> => {
    const opened = options.open();
    transport = opened;
    starts += 1;
    startedAt = now();
    answered = 0;
    const client = new Client(
      { name: "toolplane", version: options.version },
      { capabilities: questions.capabilities, versionNegotiation: { mode: "auto" } },
    );
    questions.answer(client);
    client.fallbackRequestHandler = async ({ method }) => {
      log.warn("a request of an MCP server was refused", { server: name, method });
      throw refuseRequest(name, method);
    };
    client.setNotificationHandler("notifications/tools/list_changed", () => options.toolsChanged());
    // Errors of single messages; the connection goes on.
    client.onerror = (error) => log.warn("an MCP server sent something wrong", { server: name, reason: error.message });
    client.onclose = () => {
      isUp = false;
      current = undefined;
      if (stopped.signal.aborted) return;
      crashed(opened.why?.() ?? "its connection ended");
      log.warn("the connection to an MCP server ended", { server: name, reason: opened.why?.() });
    };
    try {
      await client.connect(opened, { timeout: CONNECT_MS });
    } catch (error) {
      if (isToolplaneError(error)) throw error;
      // A program that ended says more by how it ended than the SDK does by what it waited for.
      const reason = opened.why?.() ?? reasonOf(error);
      throw new ToolplaneError("upstream_unavailable", `MCP server ${name} cannot be reached: ${reason}`, {
        cause: error,
      });
    }
    isUp = true;
    return { client, why: () => opened.why?.() };
  };

  /** The connection, or why there is none. */
  const connection = async (signal: AbortSignal): Promise<Connected> => {
    while (current === undefined) {
      if (stopped.signal.aborted) throw new ToolplaneError("upstream_unavailable", `MCP server ${name} was stopped`);
      if (signal.aborted) throw new ToolplaneError("canceled", `the call to MCP server ${name} was canceled`);
      const plan = planStart(restarts, now());
      if (plan.kind === "refuse")
        throw new ToolplaneError(
          "breaker_open",
          `MCP server ${name} failed too often and is left alone for ${Math.ceil(plan.ms / 1_000)} s`,
        );
      if (plan.kind === "wait") {
        await options.sleep(plan.ms, signal);
        continue;
      }
      restarts = plan.state;
      const opening = connect();
      current = opening;
      opening.catch((error: unknown) => {
        if (current === opening) {
          current = undefined;
          crashed(reasonOf(error));
        }
      });
    }
    return current;
  };

  return {
    status: () => ({
      processes: isUp
        ? [{ pid: transport?.pid?.(), state: "ready", inFlight, answered, startedAt, extensions: [] }]
        : [],
      starts,
      crashes,
      breaker: { state: restarts.breaker, retryInMs: Math.max(0, restarts.notBefore - now()) },
      lastFailure,
      lastStderr: transport?.lastWords?.() ?? [],
    }),
    async listTools(signal) {
      const { client } = await connection(signal);
      const { tools } = await client.listTools(undefined, { signal });
      restarts = planAnswered(restarts);
      return tools as unknown as readonly ListedMcpTool[];
    },
    async callTool({ tool, arguments: args, meta, signal, timeoutMs, progress }) {
      const { client, why } = await connection(signal);
      inFlight += 1;
      const asked = questions.listen();
      try {
        const answer = await client.callTool(
          { name: tool, arguments: args, _meta: meta },
          {
            signal,
            timeout: timeoutMs,
            // Rounds of questions included.
            maxTotalTimeout: timeoutMs,
            onprogress: (said) => progress(JSON.parse(JSON.stringify(said)) as JsonObject),
          },
        );
        restarts = planAnswered(restarts);
        answered += 1;
        return { ...(answer as unknown as Omit<McpCallAnswer, "declined">), declined: asked.declined };
      } catch (error) {
        if (isClosed(error))
          throw new ToolplaneError(
            "outcome_unknown",
            `MCP server ${name}: ${why() ?? "its connection ended"} while the call was running; look whether it had its effect before calling again`,
            { cause: error },
          );
        throw error;
      } finally {
        asked.stop();
        inFlight -= 1;
      }
    },
    async close() {
      stopped.abort();
      const open = await current?.catch(() => undefined);
      await open?.client.close().catch(() => undefined);
    },
  };
};

const reasonOf = (error: unknown): string => understandError(error, { keepMessage: true }).message;
