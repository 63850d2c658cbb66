// Over NATS, with a connection and nothing around it: fetch from the durable, lease, acknowledge, ask the gateway; or, plain,
// listen on the subject. Only documented subjects and headers.

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { BareMessage, BareNats } from "@toolplane/bus/nats";
import { type Command, type Habits, isRecord, type Json, payloadOf } from "./habits.ts";
import type { Answer, ServiceClient, ServiceConnection } from "./service-client.ts";

type Headers = Readonly<Record<string, string>>;

const VERSION = "v1r4";
const STREAM = `cg_cmd_${VERSION}`;
const CALL = "CG-Tool-Call-Id";
const STAMPS: ReadonlySet<string> = new Set(["CG-Timestamp", "CG-Version", "CG-Msg-Type", "CG-Sender"]);
const FETCH_MS = 1_000;
const ASK_MS = 10_000;
const LATER_MS = 100;
const NANOS_PER_MS = 1_000_000;
/** Answers to a fetch that mean "nothing now" and not "there is no such durable". */
const NOTHING: ReadonlySet<number> = new Set([404, 408]);
const LOST = 409;
/** There is nothing to renew. */
const NO_LEASE = { id: "", expires_at: "" };
const silent = { info: () => {}, warn: () => {}, error: () => {} };

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const passedOn = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !STAMPS.has(name) && !name.startsWith("Nats-")));

const statusIn = (body: unknown): unknown =>
  isRecord(body) && isRecord(body.error) && isRecord(body.error.detail) ? body.error.detail.status : undefined;

export const createNatsClient = (
  habits: Habits,
  connection: ServiceConnection,
  stopped: AbortSignal,
): ServiceClient => {
  const { projectId, target } = connection;
  const { nats: ways } = habits;
  const mailbox = `_INBOX.${randomUUID()}`;
  const arrived: BareMessage[] = [];
  let nats: BareNats | undefined;
  let wanted = 0;
  let expired = 0;
  let refused: number | undefined;
  let ring = (): void => {};

  const onArrival = (message: BareMessage): void => {
    if (message.status === undefined) {
      arrived.push(message);
      wanted -= 1;
    } else {
      refused = message.status;
      wanted = 0;
    }
    ring();
  };
  const untilRung = (): Promise<void> =>
    new Promise((resolve) => {
      ring = resolve;
      void pause(FETCH_MS, undefined, { signal: stopped })
        .catch(() => undefined)
        .then(resolve);
    });

  const say = (message: BareMessage, word: string): void => {
    if (message.reply?.startsWith("$JS.ACK.") === true && ways.acknowledges !== "never")
      nats?.publish(message.reply, word);
  };
  const giveBack = (message: BareMessage): void => say(message, `-NAK {"delay": ${LATER_MS * NANOS_PER_MS}}`);

  const ask = async (operation: string, body: Json, headers: Headers, project = projectId): Promise<Answer> => {
    const subject = `cg.${VERSION}.${project}.public.rpc.gateway.${ways.actor(target, operation)}.${operation}`;
    try {
      const shaped = ways.shapeQuestion(headers, operation);
      const reply = await nats?.ask(subject, JSON.stringify(body), { headers: shaped, timeoutMs: ASK_MS });
      return { status: Number(reply?.headers["CG-Status"] ?? 0), body: parse(reply?.payload ?? "") };
    } catch {
      return { status: 0, body: undefined };
    }
  };

  const askAbout = (operation: string, { headers }: Command, callId: string, body: Json): Promise<Answer> =>
    ask(operation, body, { ...headers, [CALL]: callId });

  /** A command of another project; undefined always: it is not ours to run. */
  const leaveForeign = async (message: BareMessage, headers: Headers, project: string): Promise<undefined> => {
    if (ways.onForeign === "lease there") await ask("lease", {}, headers, project);
    if (ways.onForeign === "take") say(message, "+ACK");
    else giveBack(message);
    return undefined;
  };

  const take = async (message: BareMessage): Promise<Command | undefined> => {
    const { subject, headers } = message;
    const command: Command = { subject, headers: passedOn(headers), payload: parse(message.payload), lease: NO_LEASE };
    const project = subject.split(".")[2] ?? "";
    if (project !== projectId) return leaveForeign(message, command.headers, project);
    if (ways.acknowledges === "first") say(message, "+ACK");
    if (ways.mode === "plain") return command;
    if (habits.callIdOf(command) === undefined) {
      say(message, "+ACK");
      return command;
    }
    const { status, body } = await ask("lease", payloadOf(command), command.headers);
    if (status === 200 && isRecord(body)) {
      say(message, "+ACK");
      return { ...command, lease: body.lease as Command["lease"] };
    }
    const isLater = statusIn(body) === "queued" || status !== LOST;
    if (isLater && ways.onLater === "give back") {
      // A service that has acknowledged a message does not get it again.
      if (ways.acknowledges === "when leased") giveBack(message);
      else void pause(LATER_MS).then(() => onArrival(message));
      return undefined;
    }
    say(message, "+ACK");
    return !isLater && ways.onHeld === "run" ? command : undefined;
  };

  const fetchMore = (max: number): void => {
    wanted = max;
    expired = performance.now() + FETCH_MS;
    const body = JSON.stringify({ batch: max, expires: FETCH_MS * NANOS_PER_MS });
    nats?.publish(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.tool_${target}__${projectId}`, body, { reply: mailbox });
  };

  return {
    async begin() {
      // Imported here, because only a service over NATS needs the client.
      const { openBareNats } = await import("@toolplane/bus/nats");
      nats = await openBareNats({ url: connection.url, name: `tool ${target}` }, { log: silent });
      const pattern = `cg.${VERSION}.${projectId}.*.cmd.tool.${target}.>`;
      await nats.listen(ways.mode === "plain" ? pattern : mailbox, onArrival);
      for (const definition of habits.definitions(target)) await ask("register", definition, {});
      if (ways.mode === "leased") await ask("attach", {}, {});
      for (const subject of ways.publishes(projectId)) nats.publish(subject, "{}");
    },
    async claim(max) {
      if (arrived.length === 0 && refused === undefined) {
        const rung = untilRung();
        // A fetch without an answer in time was lost with its durable.
        if (ways.mode === "leased" && (wanted <= 0 || performance.now() > expired)) fetchMore(max);
        await rung;
      }
      const status = refused;
      refused = undefined;
      if (status !== undefined && !NOTHING.has(status)) return undefined;
      const commands = await Promise.all(arrived.splice(0, max).map(take));
      return commands.filter((command) => command !== undefined);
    },
    async card(command, callId, signal) {
      const given = new Promise<undefined>((resolve) => {
        signal.addEventListener("abort", () => resolve(undefined), { once: true });
      });
      const reply = await Promise.race([askAbout("get_card", command, callId, {}), given]);
      return reply?.status === 200 && isRecord(reply.body) ? reply.body : undefined;
    },
    async callOnCard(command) {
      const { body } = await ask("get_card", { card_id: payloadOf(command).tool_call_card_id }, command.headers);
      return isRecord(body) ? String(body.tool_call_id) : "";
    },
    async beat(command, callId) {
      if (!ways.renews) return undefined;
      const { status, body } = await askAbout("heartbeat", command, callId, { lease: command.lease.id });
      return { lost: status === LOST, cancel: isRecord(body) && body.cancel === true };
    },
    async release(command, callId) {
      await askAbout("release", command, callId, { lease: command.lease.id });
    },
    async settle({ headers }, address, body, more) {
      const { [CALL]: _own, traceparent: _span, ...others } = headers;
      return (await ask("settle", body, { ...others, [CALL]: address, ...more })).status;
    },
    putCard: ({ headers }, card, more) => ask("put_card", card, { ...headers, ...more }),
    async report({ headers }, callback, more) {
      const { [CALL]: _own, traceparent: _span, ...others } = headers;
      return (await ask("report", callback, { ...others, ...more })).status;
    },
    close: async () => nats?.close(),
  };
};
