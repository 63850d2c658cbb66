// The transport to an MCP server that is a program: JSON-RPC lines over its stdin and stdout. The program is started as hosts are:
// behind the guard, without a shell, with the variables it was allowed, under a user of its own where that is possible.
//   - A line that is not a JSON-RPC message is reported and dropped; a line over the limit ends the program.
//   - A program that floods is slowed down (hosts/output-brake.ts).

import { setImmediate as breathe } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Guard, GuardedProcess } from "@toolplane/processes";
import { isRecord, UsageError } from "@toolplane/protocol";
import type { Log, Random } from "@toolplane/sdk";
import { createLineSplitter } from "@toolplane/sdk/host";
import { type Border, createBorder } from "../hosts/border.ts";
import { createDiagnostics } from "../hosts/diagnostics.ts";
import { describeExit, startProgram } from "../hosts/host-child.ts";
import { createHostLimits } from "../hosts/host-limits.ts";
import { createHostWords, type HostWords } from "../hosts/host-log.ts";
import type { Launch } from "../hosts/launch.ts";
import { createOutputBrake } from "../hosts/output-brake.ts";
import { systemTimers } from "../hosts/timers.ts";

export interface McpPipeOptions {
  readonly name: string;
  readonly launch: Launch;
  readonly secrets: ReadonlyMap<string, string>;
  readonly guard?: Guard | undefined;
  readonly log: Log;
  readonly random: Random;
}

export interface McpPipe extends Transport {
  /** Why the program is gone; undefined while it runs. */
  why(): string | undefined;
  pid(): number | undefined;
  /** What it wrote to stderr last. */
  lastWords(): readonly string[];
}

const LIMITS = createHostLimits();

/** Any JSON-RPC 2.0 object; the SDK checks the rest. */
const readMessage = (line: string): JSONRPCMessage | undefined => {
  try {
    const value = JSON.parse(line) as unknown;
    return isRecord(value) && value.jsonrpc === "2.0" ? (value as unknown as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
};

export const createMcpPipe = ({ name, launch, secrets, guard, log, random }: McpPipeOptions): McpPipe => {
  const border: Border = createBorder(secrets);
  const ports = { log, timers: systemTimers, border };
  const words: HostWords = createHostWords(name, LIMITS, ports);
  const diagnostics = createDiagnostics(name, { ...ports, onDiagnostic: () => undefined });
  let program: GuardedProcess | undefined;
  let why: string | undefined;

  const end = (signal: "SIGTERM" | "SIGKILL"): void => {
    void program?.end({ signal, graceMs: signal === "SIGKILL" ? 0 : LIMITS.graceMs });
  };

  /**
   * Messages go to the SDK in order, and a notification is handled before the next message is passed on. Otherwise progress that comes in one
   * chunk with its result would be lost: the SDK drops a call's progress once it has seen the result.
   */
  const waiting: JSONRPCMessage[] = [];
  let isDelivering = false;
  const deliver = (message: JSONRPCMessage): void => {
    waiting.push(message);
    if (isDelivering) return;
    isDelivering = true;
    void (async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        pipe.onmessage?.(next);
        if ("method" in next && !("id" in next)) await breathe();
      }
      isDelivering = false;
    })();
  };

  const follow = (running: GuardedProcess): void => {
    const { stdin, stdout, stderr } = running.child;
    if (stdin === null || stdout === null || stderr === null) throw new UsageError(`MCP server ${name} has no pipes`);
    let wasted = 0;
    const lines = createLineSplitter(LIMITS.lineBytes, {
      line(text) {
        if (text.trim() === "") return;
        const message = readMessage(text);
        if (message !== undefined) {
          deliver(message);
          return;
        }
        wasted += 1;
        diagnostics.report("stray_output", "it printed a line that is not a message", running.pid, text);
      },
      tooLong() {
        why ??= `it wrote a line of more than ${LIMITS.lineBytes} bytes`;
        end("SIGKILL");
      },
      tooLongEnded: () => undefined,
    });
    stdin.on("error", () => undefined);
    stdout.on("error", () => undefined);
    const brake = createOutputBrake({
      stream: stdout,
      timers: systemTimers,
      take: (chunk) => lines.push(chunk),
      wasted: () => wasted,
    });
    stdout.on("data", (chunk: Buffer) => brake.push(chunk));
    void running.exited.then(() => brake.release());
    words.follow(stderr, running.pid);
    void running.exited.then(async (status) => {
      why ??= describeExit(status, words.last(running.pid));
      await running.ended;
      for (const one of [stdin, stdout, stderr]) one.destroy();
      pipe.onclose?.();
    });
  };

  const pipe: McpPipe = {
    why: () => why,
    pid: () => program?.pid,
    lastWords: () => words.last(),
    async start() {
      program = await startProgram({ name, launch, limits: LIMITS, guard, random });
      follow(program);
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        const stdin = program?.child.stdin;
        if (stdin === null || stdin === undefined || why !== undefined) {
          reject(new UsageError(`MCP server ${name} is not running`));
          return;
        }
        stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    async close() {
      why ??= "it was stopped";
      program?.child.stdin?.end();
      end("SIGTERM");
      await program?.ended;
    },
  };
  return pipe;
};
