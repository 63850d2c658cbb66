// A NATS connection that does what a test tells it and writes down what it was asked: a queue of commands, a gateway that
// answers by operation, and a wire that can be cut.

import type { Delivery } from "@toolplane/bus";
import type { NatsLink, NatsReply, NatsRequest } from "@toolplane/bus/nats";
import { type ErrorCode, HEADERS, ToolplaneError } from "@toolplane/protocol";
import type { ClaimedCommand } from "../src/gateway/gateway.ts";

export interface SeenQuestion {
  readonly operation: string;
  readonly subject: string;
  readonly headers: NatsRequest["headers"];
  readonly body: Readonly<Record<string, unknown>>;
}

export type Answering = (question: SeenQuestion) => NatsReply | Promise<NatsReply>;

/** What was said about a delivery, in order: `ack`, `nak 1000`, `term why`, `inProgress`. */
export interface ScriptedDelivery {
  readonly delivery: Delivery;
  readonly said: string[];
}

export interface ScriptedLink extends NatsLink {
  /** Those of an exchange one by one, as they would have been asked alone. */
  readonly questions: SeenQuestion[];
  /** How many questions each exchange brought. */
  readonly exchanges: number[];
  readonly durables: string[];
  readonly fetches: { readonly max: number; readonly waitMs: number }[];
  answer: Answering;
  /** What a question for work is answered with; it may wait. */
  giveWork: (body: Readonly<Record<string, unknown>>) => NatsReply | Promise<NatsReply>;
  /** Instead of the queue, once: what a missing durable or a lost connection is like. */
  failFetch: ToolplaneError | undefined;
  /** The subjects of the questions that asked for a durable. */
  readonly attached: string[];
  /** Their bodies. */
  readonly attachBodies: Record<string, unknown>[];
  /** Instead of a durable. */
  refuseAttach: NatsReply | undefined;
  /** An earlier plane does not know the name of a service there. */
  refuseNames: NatsReply | undefined;
  offer(...commands: readonly ClaimedCommand[]): ScriptedDelivery[];
  cut(): void;
  mend(): void;
  closed(): boolean;
}

export const reply = (body: unknown, status = 200, timestamp?: number): NatsReply => ({
  headers: {
    "CG-Status": String(status),
    ...(timestamp === undefined ? {} : { [HEADERS.timestamp]: String(timestamp) }),
  },
  payload: body === undefined ? "" : JSON.stringify(body),
});

export const refuse = (code: ErrorCode, status: number, detail?: Record<string, unknown>): NatsReply =>
  reply(
    { error: { code, message: `said ${code}`, retryable: false, ...(detail === undefined ? {} : { detail }) } },
    status,
  );

/** The answer to `lease` for a command. */
export const leased = (command: ClaimedCommand, expiresAt: number, card?: unknown): NatsReply =>
  reply({
    subject: command.subject,
    headers: command.headers,
    payload: command.payload,
    lease: { id: command.lease?.id ?? "lease_1", expires_at: new Date(expiresAt).toISOString() },
    run_deadline: new Date(expiresAt + 15_000).toISOString(),
    attempt: 1,
    card,
  });

const SINGLE = { results: "settle", heartbeats: "heartbeat", releases: "release", parts: "parts" } as const;
type Lists = Partial<Record<keyof typeof SINGLE, readonly Record<string, unknown>[]>>;

interface AskedItem {
  readonly list: keyof typeof SINGLE;
  readonly question: SeenQuestion;
}

const itemsOf = ({ subject, headers, body }: Omit<SeenQuestion, "operation">): readonly AskedItem[] =>
  Object.entries(SINGLE).flatMap(([name, operation]) => {
    const list = name as keyof typeof SINGLE;
    return ((body as Lists)[list] ?? []).map(({ tool_call_id, traceparent, ...rest }) => ({
      list,
      question: {
        operation,
        subject: subject.replace(/exchange$/, operation),
        headers: {
          ...headers,
          [HEADERS.toolCallId]: String(tool_call_id),
          ...(traceparent === undefined ? {} : { [HEADERS.traceparent]: String(traceparent) }),
        },
        body: rest,
      },
    }));
  });

/** What an exchange says about an item that was answered so. */
const itemAnswer = ({ question }: AskedItem, { payload }: NatsReply): Record<string, unknown> => ({
  tool_call_id: question.headers[HEADERS.toolCallId],
  ...(payload === "" ? { error: { code: "upstream_unavailable", message: "away" } } : (JSON.parse(payload) as object)),
});

export const createScriptedLink = (answer: Answering = () => reply({})): ScriptedLink => {
  const queue: Delivery[] = [];
  const listeners = new Set<() => void>();
  const log = {
    questions: [] as SeenQuestion[],
    exchanges: [] as number[],
    durables: [] as string[],
    attached: [] as string[],
    attachBodies: [] as Record<string, unknown>[],
    fetches: [] as { max: number; waitMs: number }[],
  };
  let up = true;
  let closed = false;
  let ring = (): void => {};
  const away = (): ToolplaneError => new ToolplaneError("upstream_unavailable", "there is no connection to NATS");

  const answerExchange = async (items: readonly AskedItem[]): Promise<NatsReply> => {
    log.exchanges.push(items.length);
    log.questions.push(...items.map(({ question }) => question));
    if (!up) throw away();
    const answers: NatsReply[] = [];
    for (const { question } of items) answers.push(await self.answer(question));
    const lists: Record<string, unknown[]> = { results: [], heartbeats: [], releases: [], parts: [], commands: [] };
    for (const [index, item] of items.entries())
      lists[item.list]?.push(itemAnswer(item, answers[index] ?? reply(undefined, 503)));
    return { headers: { ...answers[0]?.headers, "CG-Status": "200" }, payload: JSON.stringify(lists) };
  };

  const self: ScriptedLink = {
    ...log,
    answer,
    giveWork: () => refuse("bad_request", 400),
    failFetch: undefined,
    refuseAttach: undefined,
    refuseNames: undefined,
    connected: () => up,
    closed: () => closed,
    onReconnect(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async request({ subject, headers, payload }) {
      const body = JSON.parse(payload) as Record<string, unknown>;
      if (subject.endsWith(".attach")) {
        if (!up) throw away();
        log.attached.push(subject);
        log.attachBodies.push(body);
        if (self.refuseNames !== undefined && "holder" in body) return self.refuseNames;
        if (self.refuseAttach !== undefined) return self.refuseAttach;
        return reply({ stream: "cg_cmd_v1r4", durable: `tool_${String(body.target)}__${subject.split(".")[2]}` });
      }
      if (subject.endsWith(".exchange") && "max" in body) return self.giveWork(body);
      if (subject.endsWith(".exchange")) return answerExchange(itemsOf({ subject, headers, body }));
      const question = { operation: subject.split(".").at(-1) ?? "", subject, headers, body };
      log.questions.push(question);
      if (!up) throw away();
      return self.answer(question);
    },
    respond: async () => ({ stop: async () => undefined }),
    commands(durable) {
      log.durables.push(durable);
      return {
        async fetch({ max, waitMs, signal }) {
          log.fetches.push({ max, waitMs });
          const failure = self.failFetch;
          self.failFetch = undefined;
          if (failure !== undefined) throw failure;
          if (!up) throw away();
          while (queue.length === 0 && signal?.aborted !== true && waitMs > 0) {
            await new Promise<void>((resolve) => {
              ring = resolve;
              signal?.addEventListener("abort", () => resolve(), { once: true });
            });
            if (!up) throw away();
          }
          return signal?.aborted ? [] : queue.splice(0, max);
        },
      };
    },
    offer(...commands) {
      const offered = commands.map((command) => {
        const said: string[] = [];
        const say = async (word: string): Promise<void> => {
          if (!up) throw away();
          said.push(word);
        };
        const delivery: Delivery = {
          subject: command.subject,
          headers: command.headers,
          payload: typeof command.payload === "string" ? command.payload : JSON.stringify(command.payload),
          attempt: 1,
          ack: () => say("ack"),
          nak: (delayMs) => say(delayMs === undefined ? "nak" : `nak ${delayMs}`),
          inProgress: () => say("inProgress"),
          term: (reason) => say(`term ${reason}`),
        };
        return { delivery, said };
      });
      queue.push(...offered.map(({ delivery }) => delivery));
      ring();
      return offered;
    },
    cut() {
      up = false;
      ring();
    },
    mend() {
      up = true;
      for (const listener of [...listeners]) listener();
    },
    async close() {
      closed = true;
    },
  };
  return self;
};
