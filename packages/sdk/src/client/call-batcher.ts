// Sends calls to the server, several in one request where possible.
//   CB1. Calls made in the same moment travel in one request. While a request is on its way (until the server begins its
//       answer), further calls wait and go with the next request. There is no timer: a lone call is sent at once, by the
//       route of a single call, whose answer is not a stream.
//   CB2. The answers of one request come one by one, as the calls settle: a slow call does not hold up the others.
//   CB3. A request is bounded in items and in bytes.
//   CB4. When many requests each wait for a few slow calls, their calls are sent again together, in one request. A call is
//       sent again with the same key, so it is the same call.
//   CB5. Nothing is retried here: a request that fails or ends too early fails its open calls, and the client decides.

import { isRecord, ToolplaneError } from "@toolplane/protocol";
import type { PoolAnswer } from "../http/pool.ts";
import { createLineSplitter } from "../lines/line-splitter.ts";
import { givenUp } from "./api.ts";
import { errorOf } from "./call-outcome.ts";
import { type Body, type CallAsk, jsonOf } from "./way.ts";

export interface BatcherOptions {
  /** Sends an array of calls; resolves when the answer begins, rejects with a typed error. */
  readonly send: (text: string, signal: AbortSignal) => Promise<PoolAnswer>;
  /** Sends one call and gives its answer, which may take as long as the call waits. */
  readonly sendOne: (text: string, waitMs: number, signal: AbortSignal) => Promise<Body>;
  readonly now: () => number;
  /** The error for a connection that breaks in the middle of an answer. */
  readonly lost: (cause: unknown) => ToolplaneError;
}

export type MakeCall = (ask: CallAsk, signal: AbortSignal | undefined, sent?: () => void) => Promise<Body>;

const MAX_ITEMS = 256;
/** An item that is larger travels alone. */
const MAX_CHARS = 1024 * 1024;
/** The route of a single call takes 2 MiB, and a character is up to three bytes. */
const LONE_CHARS = 512 * 1024;
/** Requests on their way at once: the second is under way while the server reads the first. */
const MAX_ON_THEIR_WAY = 2;
/** How many requests may wait for answers; beyond that, requests with few open calls are gathered (CB4). */
const MAX_OPEN = 16;
const GATHER_ITEMS = 16;
/** Only calls up to this size are gathered and sent again. Larger ones would need as many requests as before, and would be gathered again and again. */
const GATHER_CHARS = MAX_CHARS / MAX_OPEN;
/** The longest wait of one request; the API takes up to 300 seconds. */
const MAX_WAIT_SECONDS = 120;
/** More than the largest result the plane stores. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

interface Entry {
  /** The call as JSON, without its wait and without the closing brace. */
  readonly text: string;
  readonly untilMs: number;
  readonly sent: (() => void) | undefined;
  resolve(body: Body): void;
  reject(error: ToolplaneError): void;
  batch?: Batch | undefined;
}

interface Batch {
  readonly open: Map<number, Entry>;
  readonly stop: AbortController;
  onItsWay: boolean;
}

const textOf = ({ toolName, arguments: given, key, agentId, notBefore }: CallAsk): string =>
  jsonOf({
    tool_name: toolName,
    arguments: given,
    idempotency_key: key,
    agent_id: agentId,
    not_before: notBefore,
  }).slice(0, -1);

const endedEarly = (): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", "the server ended its answer before every call was answered");

/** The last line of an answer that was cut off is half a line: the call is asked for again. */
const parseLine = (line: string): Body => {
  try {
    const body = JSON.parse(line) as unknown;
    if (isRecord(body)) return body;
  } catch {
    // Said below.
  }
  throw new ToolplaneError("upstream_unavailable", "the server sent a line that is no answer to a call");
};

export const createCallBatcher = ({ send, sendOne, now, lost }: BatcherOptions): MakeCall => {
  const queue: Entry[] = [];
  const batches = new Set<Batch>();
  let onTheirWay = 0;
  let isScheduled = false;

  const waitOf = ({ untilMs }: Entry): number => Math.min(Math.max(untilMs - now(), 0) / 1000, MAX_WAIT_SECONDS);
  const itemText = (entry: Entry): string => `${entry.text},"wait_seconds":${waitOf(entry)}}`;

  const take = (): readonly Entry[] => {
    let chars = 0;
    let count = 0;
    for (const { text } of queue) {
      chars += text.length;
      if (count > 0 && (count === MAX_ITEMS || chars > MAX_CHARS)) break;
      count += 1;
    }
    return queue.splice(0, count);
  };

  const charsOf = ({ open }: Batch): number => [...open.values()].reduce((sum, { text }) => sum + text.length, 0);

  /** CB4. */
  const gather = (): void => {
    if (batches.size < MAX_OPEN) return;
    for (const batch of batches) {
      if (batch.onItsWay || batch.open.size > GATHER_ITEMS || charsOf(batch) > GATHER_CHARS) continue;
      queue.push(...batch.open.values());
      batch.open.clear();
      batch.stop.abort();
    }
  };

  const answered = (batch: Batch, line: string): void => {
    if (line === "") return;
    const body = parseLine(line);
    const { index, ...answer } = body;
    const entry = batch.open.get(Number(index));
    if (entry === undefined) return;
    batch.open.delete(Number(index));
    if (typeof answer.status === "string") entry.resolve(answer);
    else entry.reject(errorOf(answer.error));
  };

  const leave = (batch: Batch): void => {
    if (!batch.onItsWay) return;
    batch.onItsWay = false;
    onTheirWay -= 1;
    flush();
  };

  const runAll = async (batch: Batch, entries: readonly Entry[]): Promise<void> => {
    batch.onItsWay = true;
    onTheirWay += 1;
    const answer = await send(`[${entries.map(itemText).join(",")}]`, batch.stop.signal);
    leave(batch);
    const lines = createLineSplitter(MAX_LINE_BYTES, {
      line: (text) => answered(batch, text),
      tooLong() {
        throw new ToolplaneError("upstream_unavailable", "the server sent a line without an end");
      },
      tooLongEnded: () => undefined,
    });
    for await (const chunk of answer.body) lines.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    lines.end();
  };

  /** Other calls do not wait for this request: its answer begins only when the call is over. */
  const runOne = async (batch: Batch, entry: Entry): Promise<void> => {
    const answer = await sendOne(itemText(entry), waitOf(entry) * 1000, batch.stop.signal);
    if (batch.open.delete(0)) entry.resolve(answer);
  };

  const run = async (entries: readonly Entry[]): Promise<void> => {
    const batch: Batch = { open: new Map(entries.entries()), stop: new AbortController(), onItsWay: false };
    for (const entry of entries) {
      entry.batch = batch;
      entry.sent?.();
    }
    const [first] = entries;
    const isLone = batches.size === 0 && entries.length === 1 && queue.length === 0;
    batches.add(batch);
    let failure: ToolplaneError | undefined;
    try {
      if (isLone && first !== undefined && first.text.length < LONE_CHARS) await runOne(batch, first);
      else await runAll(batch, entries);
    } catch (error) {
      failure = error instanceof ToolplaneError ? error : lost(error);
    } finally {
      batches.delete(batch);
      leave(batch);
      const left = [...batch.open.values()];
      batch.open.clear();
      for (const entry of left) entry.reject(failure ?? endedEarly());
    }
  };

  const flush = (): void => {
    isScheduled = false;
    if (queue.length > 0 && onTheirWay < MAX_ON_THEIR_WAY) gather();
    while (queue.length > 0 && onTheirWay < MAX_ON_THEIR_WAY) void run(take());
  };

  const forget = (entry: Entry): void => {
    const at = queue.indexOf(entry);
    if (at >= 0) queue.splice(at, 1);
    const { batch } = entry;
    if (batch === undefined) return;
    for (const [index, other] of batch.open) if (other === entry) batch.open.delete(index);
    // All callers of this request have given up.
    if (batch.open.size === 0) batch.stop.abort();
  };

  return async (ask, signal, sent) =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => {
        forget(entry);
        entry.reject(givenUp());
      };
      const entry: Entry = {
        text: textOf(ask),
        untilMs: ask.untilMs,
        sent,
        resolve: (body) => {
          signal?.removeEventListener("abort", onAbort);
          resolve(body);
        },
        reject: (error) => {
          signal?.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      queue.push(entry);
      if (isScheduled || onTheirWay >= MAX_ON_THEIR_WAY) return;
      isScheduled = true;
      // Runs after all code of this moment, so that calls made together are sent together.
      process.nextTick(flush);
    });
};
