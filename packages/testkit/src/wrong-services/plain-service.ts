// A small tool service over HTTP, written against the documentation alone: claim, read the card, renew the lease, hand the
// result over. With the right habits it keeps every clause; it is also what wrong services are made of.

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Command, type Habits, isRecord, type Json, type Outcome, payloadOf } from "./habits.ts";
import { argumentsOf, findFault } from "./judge-command.ts";
import { type Answer, createPlainClient, type ServiceConnection } from "./plain-client.ts";

export interface PlainService {
  /** Resolves when the service ends by itself, with how. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** Between two tries of anything. */
const RETRY_MS = 10;
const CLAIM_SECONDS = 5;
/** A lease is renewed after this part of it. */
const BEAT_PART = 4;

const hex = (digits: number): string => randomUUID().replaceAll("-", "").slice(0, digits);

/** The same trace, a span of our own. */
const childOf = (traceparent: string | undefined): string =>
  `00-${traceparent?.split("-")[1] ?? hex(32)}-${hex(16)}-01`;

const failed = (message: string): Outcome => ({ status: "failed", error: { code: "bad_request", message } });

const lineageOf = (card: Json | undefined): Json => {
  const metadata = isRecord(card?.metadata) ? card.metadata : {};
  return Object.fromEntries(
    ["step_id", "trace_id", "parent_step_id"].filter((key) => key in metadata).map((key) => [key, metadata[key]]),
  );
};

export const startPlainService = (habits: Habits, connection: ServiceConnection): PlainService => {
  const stopped = new AbortController();
  const client = createPlainClient(connection, habits.authorization(connection.token), stopped.signal);
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

  const insist = async (send: () => Promise<Answer>): Promise<void> => {
    while (!stopped.signal.aborted) {
      const next = habits.afterAnswer((await send()).status);
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
      after_execution: payloadOf(command).after_execution ?? "suspend",
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
      await insist(() => client.send("POST", `/calls/${address}/result`, body, { headers }));
      return;
    }
    const card = habits.shapeCard(cardFor(command, address, outcome, callCard), command);
    const callback = habits.shapeCallback(
      {
        status: outcome.status,
        after_execution: payloadOf(command).after_execution ?? "suspend",
        tool_result_card_id: card.card_id,
      },
      outcome,
    );
    const headers = habits.shapeHeaders(
      { ...traced, "CG-Tool-Call-Id": address, "CG-Lease": command.lease.id },
      command,
    );
    const write = (): Promise<void> => insist(() => client.send("POST", "/cards", card));
    if (habits.cardBeforeReport) await write();
    await insist(() => client.send("POST", "/reports", callback, { headers }));
    if (!habits.cardBeforeReport) await write();
  };

  /** Renews the lease until told to stop; aborts the call when the answer says so. */
  const keepLease = async (command: Command, callId: string, over: AbortController): Promise<void> => {
    const everyMs = (Date.parse(command.lease.expires_at) - Date.now()) / BEAT_PART;
    while (!over.signal.aborted) {
      await pause(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      const { status, body } = await client.send("POST", `/calls/${callId}/heartbeat`, { lease: command.lease.id });
      if (status === 409 && habits.heeds.loss) over.abort("gone");
      if (isRecord(body) && body.cancel === true && habits.heeds.cancel) over.abort("gone");
    }
  };

  const runCall = async (command: Command, callId: string): Promise<void> => {
    const over = new AbortController();
    const keeping = keepLease(command, callId, over);
    try {
      const { status, body } = await client.send("GET", `/calls/${callId}/card`, undefined, { signal: over.signal });
      if (over.signal.aborted) return;
      const card = status === 200 && isRecord(body) ? body : undefined;
      const fault = findFault(command, callId, card, habits.checks) ?? habits.fault(command.payload);
      const instead = fault === undefined ? "refuse" : habits.onFault(fault);
      if (instead === "give back") await client.send("POST", `/calls/${callId}/release`, { lease: command.lease.id });
      if (instead !== "refuse") return;
      runs += 1;
      const outcome: Outcome =
        fault === undefined ? { status: "success", result: habits.run(argumentsOf(card), runs) } : failed(fault);
      await handOver(command, callId, outcome, card);
    } finally {
      over.abort();
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
    const callId = named ?? (await callIdOnCard(command));
    if (habits.remembers.running && running.has(callId)) return;
    if (habits.remembers.ended && ended.has(callId)) return;
    running.add(callId);
    await runCall(command, callId).finally(() => running.delete(callId));
    ended.add(callId);
  };

  const callIdOnCard = async (command: Command): Promise<string> => {
    const { body } = await client.send("GET", `/cards/${String(payloadOf(command).tool_call_card_id)}`);
    return isRecord(body) ? String(body.tool_call_id) : "";
  };

  const begin = (command: Command): void => {
    const done = handle(command)
      .catch((error: unknown) => die(`ended with ${String(error)}`))
      .finally(() => work.delete(done));
    work.add(done);
  };

  const loop = async (): Promise<void> => {
    for (const definition of habits.definitions(connection.target)) await client.send("POST", "/tools", definition);
    for (const { path, body } of habits.extraWrites(connection.projectId)) await client.send("POST", path, body);
    while (!stopped.signal.aborted) {
      const { status, body } = await client.send("POST", `/tool-services/${connection.target}/claim`, {
        max: habits.claimSize,
        wait_seconds: CLAIM_SECONDS,
      });
      if (status === 200 && isRecord(body) && Array.isArray(body.commands)) {
        for (const command of habits.start(body.commands as Command[])) begin(command);
        continue;
      }
      if (stopped.signal.aborted) return;
      if (habits.afterBadClaim() === "die") return die("ended because a claim failed");
      await pause(RETRY_MS);
    }
  };

  const looping = loop();
  return {
    exited,
    async stop() {
      stopped.abort();
      await looping;
      await Promise.all(work);
    },
  };
};
