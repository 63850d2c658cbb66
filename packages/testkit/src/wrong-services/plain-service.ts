// A small tool service, written from the documentation alone: claim, read the card, renew the lease, deliver the result. With
// the right habits it keeps every clause, over HTTP and NATS; the wrong services are made from it.

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Command, type Habits, isRecord, type Json, type Outcome, payloadOf } from "./habits.ts";
import { argumentsOf, findFault } from "./judge-command.ts";
import { createNatsClient } from "./nats-client.ts";
import { createPlainClient } from "./plain-client.ts";
import type { ServiceClient, ServiceConnection } from "./service-client.ts";

export interface PlainService {
  /** Resolves when the service ends by itself, with how. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** Between two tries of anything. */
const RETRY_MS = 10;
/** A lease is renewed after this part of it. */
const BEAT_PART = 4;

const hex = (digits: number): string => randomUUID().replaceAll("-", "").slice(0, digits);

/** The same trace, a span of our own. */
const childOf = (traceparent: string | undefined): string =>
  `00-${traceparent?.split("-")[1] ?? hex(32)}-${hex(16)}-01`;

const failed = (message: string): Outcome => ({ status: "failed", error: { code: "bad_request", message } });

const afterExecutionOf = (command: Command): unknown => payloadOf(command).after_execution ?? "suspend";

const CONFLICT = 409;

/** The card a refusal names as the one to report. */
const standingIn = (body: unknown): string | undefined => {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const detail = error.code === "conflict" && isRecord(error.detail) ? error.detail : {};
  return typeof detail.tool_result_card_id === "string" ? detail.tool_result_card_id : undefined;
};

const lineageOf = (card: Json | undefined): Json => {
  const metadata = isRecord(card?.metadata) ? card.metadata : {};
  return Object.fromEntries(
    ["step_id", "trace_id", "parent_step_id"].filter((key) => key in metadata).map((key) => [key, metadata[key]]),
  );
};

const createClient = (habits: Habits, connection: ServiceConnection, stopped: AbortSignal): ServiceClient =>
  connection.url.startsWith("nats:")
    ? createNatsClient(habits, connection, stopped)
    : createPlainClient(habits, connection, stopped);

export const startPlainService = (habits: Habits, connection: ServiceConnection): PlainService => {
  const stopped = new AbortController();
  const client = createClient(habits, connection, stopped.signal);
  const running = new Set<string>();
  const ended = new Set<string>();
  const work = new Set<Promise<void>>();
  let runs = 0;
  let die = (_how: string): void => {};
  const exited = new Promise<string>((resolve) => {
    die = (how) => {
      stopped.abort();
      resolve(how);
    };
  });

  const insist = async (send: () => Promise<number>): Promise<void> => {
    while (!stopped.signal.aborted) {
      const next = habits.afterAnswer(await send());
      if (next === "die") die("ended because a result was refused");
      if (next !== "again") return;
      await pause(RETRY_MS);
    }
  };

  const cardFor = (command: Command, callId: string, outcome: Outcome, callCard: Json | undefined): Json => ({
    card_id: hex(32),
    project_id: connection.projectId,
    type: "tool.result",
    content: {
      __type__: "ToolResultContent",
      status: outcome.status,
      after_execution: afterExecutionOf(command),
      result: outcome.result ?? null,
      error: outcome.error ?? null,
    },
    created_at: new Date().toISOString(),
    author_id: `tool.${connection.target}`,
    metadata: {
      ...lineageOf(callCard),
      agent_turn_id: command.headers["CG-Turn-Id"],
      tool_call_id: callId,
      function_name: payloadOf(command).tool_name ?? connection.target,
      role: "tool",
    },
    tool_call_id: callId,
  });

  const handOver = async (
    command: Command,
    callId: string,
    made: Outcome,
    callCard: Json | undefined,
  ): Promise<void> => {
    const outcome = habits.shapeOutcome(made, command);
    const address = habits.addressOf(command, callId);
    const traced = { traceparent: childOf(command.headers.traceparent) };
    if (habits.steps === "one") {
      const body = habits.shapeBody({ lease: command.lease.id, ...outcome }, command);
      const headers = habits.shapeHeaders(traced, command);
      await insist(() => client.settle(command, address, body, headers));
      return;
    }
    const card = habits.shapeCard(cardFor(command, address, outcome, callCard), command);
    const callback = habits.shapeCallback(
      {
        status: outcome.status,
        after_execution: afterExecutionOf(command),
        tool_result_card_id: card.card_id,
      },
      outcome,
    );
    const leased: Record<string, string> = command.lease.id === "" ? {} : { "CG-Lease": command.lease.id };
    const headers = habits.shapeHeaders({ ...traced, "CG-Tool-Call-Id": address, ...leased }, command);
    let report = callback;
    const write = (): Promise<void> =>
      insist(async () => {
        const { status, body } = await client.putCard(command, card, leased);
        const standing = standingIn(body);
        if (status === CONFLICT && standing !== undefined && habits.reusesStanding)
          report = { ...callback, tool_result_card_id: standing };
        return status;
      });
    if (habits.cardBeforeReport) await write();
    await insist(() => client.report(command, report, headers));
    if (!habits.cardBeforeReport) await write();
  };

  /** Renews the lease until told to stop; aborts the call when the answer says so. */
  const keepLease = async (command: Command, callId: string, over: AbortController): Promise<void> => {
    if (command.lease.id === "") return;
    const everyMs = (Date.parse(command.lease.expires_at) - Date.now()) / BEAT_PART;
    while (!over.signal.aborted) {
      await pause(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      const beat = await client.beat(command, callId);
      if (beat === undefined) return;
      if (beat.lost && habits.heeds.loss) over.abort("gone");
      if (beat.cancel && habits.heeds.cancel) over.abort("gone");
    }
  };

  const runCall = async (command: Command, callId: string): Promise<void> => {
    const over = new AbortController();
    const keeping = keepLease(command, callId, over);
    try {
      const card = await client.card(command, callId, over.signal);
      if (over.signal.aborted) return;
      const fault = findFault(command, callId, card, habits.checks) ?? habits.fault(command.payload);
      const instead = fault === undefined ? "refuse" : habits.onFault(fault);
      if (instead === "give back") await client.release(command, callId);
      if (instead !== "refuse") return;
      runs += 1;
      const outcome: Outcome =
        fault === undefined ? { status: "success", result: habits.run(argumentsOf(card), runs) } : failed(fault);
      await handOver(command, callId, outcome, card);
    } finally {
      // With a reason: without one an error is made each time, with its stack.
      over.abort("over");
      await keeping;
    }
  };

  const handle = async (command: Command): Promise<void> => {
    const named = habits.callIdOf(command);
    const nameless = named === undefined ? habits.onNameless(command) : undefined;
    if (nameless === "drop") return;
    if (nameless === "die") {
      die("ended with a KeyError");
      return;
    }
    if (nameless === "refuse") return handOver(command, "", failed("CG-Tool-Call-Id is missing"), undefined);
    const callId = named ?? (await client.callOnCard(command));
    if (habits.remembers.running && running.has(callId)) return;
    if (habits.remembers.ended && ended.has(callId)) return;
    running.add(callId);
    await runCall(command, callId).finally(() => running.delete(callId));
    ended.add(callId);
  };

  const begin = (command: Command): void => {
    const done = handle(command)
      .catch((error: unknown) => die(`ended with ${String(error)}`))
      .finally(() => work.delete(done));
    work.add(done);
  };

  const loop = async (): Promise<void> => {
    await client.begin();
    while (!stopped.signal.aborted) {
      const commands = await client.claim(habits.claimSize);
      if (commands !== undefined) {
        for (const command of habits.start(commands)) begin(command);
        continue;
      }
      if (stopped.signal.aborted) return;
      if (habits.afterBadClaim() === "die") return die("ended because a claim failed");
      await pause(RETRY_MS);
    }
  };

  const looping = loop().catch((error: unknown) => die(`ended with ${String(error)}`));
  return {
    exited,
    async stop() {
      stopped.abort();
      await looping;
      await Promise.all(work);
      await client.close();
    },
  };
};
