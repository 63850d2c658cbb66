// Turns fetched commands into leased calls: each command is leased through the gateway, all at once, and then acknowledged.
//   LC0. A command is only a bell, and any user of the bus could have sent it. So nothing is run from its content. A command that
//       breaks the protocol is terminated, and the call it names is not changed. The plane publishes a sound command again from
//       the call's row, by its own schedule; a malformed command does not make the plane publish.
//   LC1. Every command is settled: acknowledged when it was leased or is not needed, given back otherwise. While the gateway is
//       asked, the bus is told that the command is being worked on.
//   LC2. A leased call is handed over or released. A lease that is answered after the others were handed over is released.
//   LC3. A lost acknowledgement brings the command again: its lease is then refused, and the command is dropped.
//   LC4. A lost answer costs time only: asked again under the same ticket, the gateway gives the same lease. So an unsafe tool
//       that was never started does not end as `outcome_unknown`.

import type { Delivery } from "@toolplane/bus";
import {
  HEADERS,
  type HeaderMap,
  type ToolplaneError,
  type TraceIds,
  tryParseJsonStrict,
  tryParseSubject,
  understandError,
} from "@toolplane/protocol";
import type { ClaimedCommand } from "../gateway/gateway.ts";
import { readLeased } from "../gateway/wire.ts";
import type { AskGateway } from "../gateway/wire-gateway.ts";
import { type Clock, inTime, WAIT_OVER } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import { planCommand } from "../runner/plan-command.ts";
import { type CommandFate, planMalformed, planNotOurs, planRefusal } from "./plan-refusal.ts";

export interface LeaseDeps {
  readonly ask: AskGateway;
  readonly release: (toolCallId: string, leaseId: string, until: number) => Promise<void>;
  readonly projectId: string;
  readonly target: string;
  readonly ids: TraceIds;
  readonly holder: string | undefined;
  /** The definitions the service runs; the plane leases a pinned call only to a service that names its own. */
  readonly definitions: readonly string[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** A new mark for each command. */
  readonly ticket: () => string;
  readonly log: Log;
}

export interface LeasedBatch {
  readonly commands: readonly ClaimedCommand[];
  /** Why no call can be leased at the moment, by any service. */
  readonly trouble: ToolplaneError | undefined;
}

/** A durable redelivers after 30 s; told three times in that time, one message may be lost. */
const IN_PROGRESS_MS = 10_000;
/** Longer than a busy plane takes. The first calls of a batch wait for the last, while their leases run. */
const STRAGGLER_MS = 4_000;
/** An answer that comes after the batch is used to give the lease back. */
const LEASE_TIMEOUT_MS = 20_000;
/** The process that took the request may have died. */
const ANSWER_MS = 5_000;
const ASK_AGAIN_MS = 500;

/** No answer does not mean that the request was not heard: the lease may be ours. */
const UNANSWERED: ReadonlySet<unknown> = new Set(["timeout", "disconnected"]);

/** What the gateway must know: whose call, and under which trace. */
const IDENTITY = [
  HEADERS.projectId,
  HEADERS.channelId,
  HEADERS.agentId,
  HEADERS.turnId,
  HEADERS.turnEpoch,
  HEADERS.stepId,
  HEADERS.toolCallId,
  HEADERS.recursionDepth,
  HEADERS.traceparent,
] as const;

const identityOf = (headers: HeaderMap): HeaderMap =>
  Object.fromEntries(IDENTITY.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));

const applyFate = async (delivery: Delivery, fate: CommandFate): Promise<void> => {
  if (fate.kind === "forget") await delivery.ack();
  else if (fate.kind === "later") await delivery.nak(fate.delayMs);
  else await delivery.term(fate.reason);
};

export const leaseCommands = async (deliveries: readonly Delivery[], deps: LeaseDeps): Promise<LeasedBatch> => {
  const { ask, clock, log, random, projectId, holder, definitions } = deps;
  const commands: ClaimedCommand[] = [];
  const late = new AbortController();
  let trouble: ToolplaneError | undefined;
  let unsettled = false;

  /** LC3: an acknowledgement that could not be sent is repeated at the next delivery. Logged once: it concerns all commands. */
  const settle = (delivery: Delivery, fate: CommandFate): void => {
    applyFate(delivery, fate).catch((thrown: unknown) => {
      if (unsettled) return;
      unsettled = true;
      log.warn("a command could not be settled; it will come again", { reason: understandError(thrown).message });
    });
  };

  const stayAtWork = async (delivery: Delivery, done: AbortSignal): Promise<void> => {
    for (;;) {
      await clock.sleep(IN_PROGRESS_MS, done);
      if (done.aborted) return;
      await delivery.inProgress().catch(() => {});
    }
  };

  const request = async (delivery: Delivery, payload: unknown, channelId: string): Promise<ClaimedCommand> => {
    const question = {
      operation: "lease",
      body: {
        ...(payload as object),
        ...(holder === undefined ? {} : { holder }),
        ...(definitions === undefined ? {} : { definitions }),
        ticket: deps.ticket(),
      },
      headers: identityOf(delivery.headers),
      channelId,
      timeoutMs: ANSWER_MS,
    } as const;
    const until = clock.now() + LEASE_TIMEOUT_MS;
    const done = new AbortController();
    void stayAtWork(delivery, done.signal);
    try {
      for (;;) {
        try {
          return readLeased(await ask(question));
        } catch (thrown) {
          const error = understandError(thrown);
          if (!UNANSWERED.has(error.detail?.reason) || clock.now() + ASK_AGAIN_MS >= until) throw error;
          await clock.sleep(ASK_AGAIN_MS);
        }
      }
    } finally {
      done.abort(WAIT_OVER);
    }
  };

  const handOver = async (command: ClaimedCommand): Promise<void> => {
    if (!late.signal.aborted) {
      commands.push(command);
      return;
    }
    const toolCallId = command.headers[HEADERS.toolCallId];
    if (command.lease === undefined || toolCallId === undefined) return;
    await deps.release(toolCallId, command.lease.id, command.lease.expiresAt).catch((thrown: unknown) => {
      log.warn("a call could not be given back; its lease will lapse", { reason: understandError(thrown).message });
    });
  };

  const lease = async (delivery: Delivery): Promise<void> => {
    const subject = tryParseSubject(delivery.subject);
    const payload = tryParseJsonStrict(delivery.payload);
    const command = { subject: delivery.subject, headers: delivery.headers, payload };
    const plan = planCommand(command, { projectId, target: deps.target }, deps.ids);
    if (plan.kind === "ignore" || subject === undefined) {
      settle(delivery, planNotOurs(delivery.attempt, random));
      return;
    }
    if (plan.kind !== "accept") {
      const { clause, error } = plan;
      const call = delivery.headers[HEADERS.toolCallId];
      log.warn("a command breaks the protocol and was terminated; its call is offered again from its row", {
        call,
        clause,
        reason: error.message,
      });
      settle(delivery, planMalformed(clause, error));
      return;
    }
    try {
      const command = await request(delivery, payload, subject.channelId);
      settle(delivery, { kind: "forget" });
      await handOver(command);
    } catch (thrown) {
      const error = understandError(thrown);
      const fate = planRefusal(error, delivery.attempt, random);
      if (fate.kind === "later" && fate.trouble) trouble ??= error;
      else if (fate.kind === "never" || error.code === "payload_too_large") {
        const call = delivery.headers[HEADERS.toolCallId];
        const { code, detail, message: reason } = error;
        log.warn("a command cannot be taken", { call, code, clause: detail?.clause, reason });
      }
      settle(delivery, fate);
    }
  };

  await inTime(clock, STRAGGLER_MS, Promise.all(deliveries.map(lease)));
  late.abort(WAIT_OVER);
  return { commands, trouble };
};
