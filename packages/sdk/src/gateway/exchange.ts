// Sends results, heartbeats, releases and parts of a service together: items that become ready while a request is on its way go
// with the next request. No timers: a lone item is sent at once, and requests grow as fast as the plane is slow.
//   EX1. A flush is capped by number and by size; a large item is sent by its own operation and holds up no other.
//   EX2. Every item has an answer of its own. When a flush fails because the plane is away, its items fail, and each is retried
//       as it would have been alone. When a flush is refused as a whole, its items are sent again one by one, at once.
//   EX3. A flush that takes long does not count as in flight any more, so a dead connection holds back no heartbeat.
//   EX4. Giving up an item aborts the flush only when the flush holds nothing else.
//   EX5. When a plane does not know the exchange, the single operations are used from then on.

import { ERROR_TABLE, isErrorCode, isRecord, ToolplaneError, understandError } from "@toolplane/protocol";
import { type Clock, WAIT_OVER } from "../ports/clock.ts";
import { errorFromAnswer } from "./answer-error.ts";
import type { Patience } from "./gateway.ts";
import { mayPass, type PatienceDeps, withPatience } from "./patience.ts";
import type { Answer } from "./wire.ts";

const KINDS = ["results", "heartbeats", "releases", "parts"] as const;
export type SaidKind = (typeof KINDS)[number];

export interface Said<T> {
  readonly kind: SaidKind;
  readonly toolCallId: string;
  /** The body of the single operation; in an exchange the item also has the call's id, and a result its span. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly traceparent?: string | undefined;
  readonly read: (answer: Answer) => T;
  /** Sends the same item by its own operation. */
  readonly alone: () => Promise<T>;
  readonly signal?: AbortSignal | undefined;
  /** The time after which an answer is useless. */
  readonly timeoutMs?: number | undefined;
}

export type Exchange = <T>(said: Said<T>) => Promise<T>;

export interface ExchangeOptions {
  /** Sends one exchange; `text` is its body. */
  readonly send: (text: string, signal: AbortSignal) => Promise<Answer>;
  /** Whether the target of an exchange is known; until then every item is sent alone. */
  readonly isOpen?: (() => boolean) | undefined;
  readonly clock: Clock;
  /** For a transport whose messages hold less than MAX_CHARS. */
  readonly maxChars?: (() => number) | undefined;
  readonly inFlight?: number | undefined;
}

/** The sum of all items stays below what a server parses in one go. */
const MAX_CHARS = 120 * 1024;
/** A larger item is sent alone: batching would not make it faster. */
const LARGE_CHARS = 32 * 1024;
/** The most items the plane accepts in one list. */
const MAX_ITEMS = 256;
/** While the plane commits one flush it reads the next; with one in flight, service and plane would wait for each other. */
const IN_FLIGHT = 2;
/** Far longer than a healthy plane takes, far shorter than a lease. */
const SLOW_MS = 2_000;

interface Item {
  readonly kind: SaidKind;
  readonly text: string;
  readonly take: (answer: Answer) => void;
  readonly fail: (error: ToolplaneError) => void;
  readonly sendAlone: () => void;
  readonly isOver: () => boolean;
  flush: Flush | undefined;
}

interface Flush {
  readonly items: readonly Item[];
  readonly stop: AbortController;
}

const unreadable = (): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", "the answer to an exchange has no readable answer to one of its items");

/** The error of an item, as its single operation would have given it. */
const errorOf = (said: unknown, kind: SaidKind): ToolplaneError | undefined => {
  if (!isRecord(said) || !isRecord(said.error)) return undefined;
  const { code } = said.error;
  const status = isErrorCode(code) ? ERROR_TABLE[code].http : 500;
  return errorFromAnswer({ status, body: said, request: `an exchange (${kind})` });
};

const textOf = ({ toolCallId, body, traceparent }: Said<unknown>): string =>
  JSON.stringify({ tool_call_id: toolCallId, ...body, ...(traceparent === undefined ? {} : { traceparent }) });

const bodyText = (items: readonly Item[]): string => {
  const lists = KINDS.map((kind) => [kind, items.filter((item) => item.kind === kind)] as const);
  const filled = lists.filter(([, list]) => list.length > 0);
  return `{${filled.map(([kind, list]) => `"${kind}":[${list.map(({ text }) => text).join(",")}]`).join(",")}}`;
};

const handOut = ({ body, clockAheadMs }: Answer, items: readonly Item[]): void => {
  const next = new Map<SaidKind, number>();
  for (const item of items) {
    const index = next.get(item.kind) ?? 0;
    next.set(item.kind, index + 1);
    const list = isRecord(body) ? body[item.kind] : undefined;
    const said: unknown = Array.isArray(list) ? list[index] : undefined;
    const error = said === undefined ? unreadable() : errorOf(said, item.kind);
    if (error === undefined) item.take({ body: said, clockAheadMs });
    else item.fail(error);
  }
};

export const createExchange = (options: ExchangeOptions): Exchange => {
  const { send, clock, maxChars, inFlight = IN_FLIGHT } = options;
  let waiting: Item[] = [];
  let running = 0;
  let scheduled = false;
  let isKnown = true;

  const take = (): Item[] => {
    const most = Math.min(maxChars?.() ?? MAX_CHARS, MAX_CHARS);
    let chars = 0;
    let count = 0;
    for (const { text } of waiting) {
      chars += text.length;
      if (count > 0 && (chars > most || count >= MAX_ITEMS)) break;
      count += 1;
    }
    return waiting.splice(0, count);
  };

  const failed = (thrown: unknown, items: readonly Item[]): void => {
    const error = understandError(thrown);
    if (error.code === "not_found") isKnown = false;
    for (const item of items) {
      if (mayPass(error)) item.fail(error);
      else item.sendAlone();
    }
  };

  const run = async (flush: Flush): Promise<void> => {
    const { items, stop } = flush;
    const done = new AbortController();
    let counted = true;
    running += 1;
    const makeRoom = (): void => {
      if (!counted) return;
      counted = false;
      running -= 1;
      pump();
    };
    void clock.sleep(SLOW_MS, done.signal).then(makeRoom);
    try {
      handOut(await send(bodyText(items), stop.signal), items);
    } catch (thrown) {
      failed(thrown, items);
    } finally {
      done.abort(WAIT_OVER);
      makeRoom();
    }
  };

  const pump = (): void => {
    scheduled = false;
    while (running < inFlight && waiting.length > 0) {
      const flush: Flush = { items: take(), stop: new AbortController() };
      for (const item of flush.items) item.flush = flush;
      void run(flush);
    }
  };

  const drop = (item: Item): void => {
    if (item.flush === undefined) waiting = waiting.filter((other) => other !== item);
    else if (item.flush.items.every((other) => other.isOver())) item.flush.stop.abort(WAIT_OVER);
  };

  const enqueue = <T>(said: Said<T>, text: string): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const { signal } = said;
      const over = new AbortController();
      const end = (act: () => void): void => {
        if (over.signal.aborted) return;
        over.abort(WAIT_OVER);
        signal?.removeEventListener("abort", giveUp);
        act();
      };
      const item: Item = {
        kind: said.kind,
        text,
        take: (answer) =>
          end(() => {
            try {
              resolve(said.read(answer));
            } catch (thrown) {
              reject(understandError(thrown));
            }
          }),
        fail: (error) => end(() => reject(error)),
        sendAlone: () => end(() => void said.alone().then(resolve, reject)),
        isOver: () => over.signal.aborted,
        flush: undefined,
      };
      const giveUp = (): void => {
        item.fail(new ToolplaneError("canceled", "the request was given up"));
        drop(item);
      };
      const late = (timeoutMs: number): void => {
        if (over.signal.aborted) return;
        item.fail(new ToolplaneError("upstream_unavailable", `the plane did not answer within ${timeoutMs} ms`));
        drop(item);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      const { timeoutMs } = said;
      if (timeoutMs !== undefined) void clock.sleep(timeoutMs, over.signal).then(() => late(timeoutMs));
      waiting.push(item);
      // At the end of this tick, so that items of one moment travel together.
      if (!scheduled && running < inFlight) {
        scheduled = true;
        queueMicrotask(pump);
      }
    });

  return (said) => {
    if (!isKnown || options.isOpen?.() === false || said.signal?.aborted === true) return said.alone();
    const text = textOf(said);
    return text.length > LARGE_CHARS ? said.alone() : enqueue(said, text);
  };
};

/** Sends the item with the others; when that fails in a way that may pass, sends it again alone (G3). */
export const sayPatiently = <T>(
  deps: PatienceDeps,
  exchange: Exchange,
  said: Said<T>,
  patience: Patience = {},
): Promise<T> => {
  let isFirst = true;
  return withPatience(deps, patience, () => {
    const tried = isFirst ? exchange(said) : said.alone();
    isFirst = false;
    return tried;
  });
};
