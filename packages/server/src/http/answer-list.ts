// An answer with a list that may be long. The items are turned into text one by one, and after each few hundred kilobytes other requests run. A
// long answer is sent piece by piece while its reader reads. What the reader has not taken is counted for its token, so a reader that takes
// nothing cannot fill the memory with further answers.

import { setImmediate as breathe } from "node:timers/promises";
import type { Context } from "hono";
import type { Answers, BodyOf } from "./answers.ts";
import type { BodyShare } from "./body-budget.ts";

export interface ListAnswer<Given extends Answers = Answers> {
  /** The items are typed by the answers that the route lists. */
  readonly route: { readonly answers: Given };
  readonly context: Context;
  /** What the answers of the caller's token hold. */
  readonly openAnswer: () => BodyShare;
}

const AT_ONCE = 256 * 1024;
const JSON_TYPE = { "Content-Type": "application/json" };

/** The pieces of a long answer; the memory of each piece is released when the reader has taken it. */
const streamPieces = (pieces: readonly Uint8Array[], share: BodyShare): ReadableStream<Uint8Array> => {
  let at = 0;
  const close = (): void => share[Symbol.dispose]();
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[at];
        at += 1;
        if (piece !== undefined) return controller.enqueue(piece);
        close();
        controller.close();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
};

const answer = async (
  { context, openAnswer }: Pick<ListAnswer, "context" | "openAnswer">,
  opening: string,
  items: readonly unknown[],
  closing: string,
): Promise<Response> => {
  const encoder = new TextEncoder();
  const share = openAnswer();
  const pieces: Uint8Array[] = [];
  let text = opening;
  try {
    for (const [index, item] of items.entries()) {
      text += `${index === 0 ? "" : ","}${JSON.stringify(item) ?? "null"}`;
      if (text.length <= AT_ONCE) continue;
      const piece = encoder.encode(text);
      share.take(piece.byteLength);
      pieces.push(piece);
      text = "";
      await breathe();
    }
  } catch (error) {
    share[Symbol.dispose]();
    throw error;
  }
  const { method, signal } = context.req.raw;
  // HEAD, or a client that has gone, never reads the pieces: a stream opened for it would stay counted for ever.
  const isTaken = method !== "HEAD" && !signal.aborted;
  if (pieces.length > 0 && isTaken) {
    signal.addEventListener("abort", () => share[Symbol.dispose](), { once: true });
    return context.body(streamPieces([...pieces, encoder.encode(text + closing)], share), 200, JSON_TYPE);
  }
  share[Symbol.dispose]();
  return context.body(isTaken ? text + closing : "", 200, JSON_TYPE);
};

type Listed<Given extends Answers> = BodyOf<Given[200]>;
export type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/** The list alone. */
export const answerItems = <Given extends Answers>(
  call: ListAnswer<Given>,
  items: readonly ItemOf<Listed<Given>>[],
): Promise<Response> => answer(call, "[", items, "]");

/** The list under its name, followed by the rest. */
export const answerList = <Given extends Answers, Name extends keyof Listed<Given> & string>(
  call: ListAnswer<Given>,
  name: Name,
  items: readonly ItemOf<Listed<Given>[Name]>[],
  rest: Omit<Listed<Given>, Name>,
): Promise<Response> => {
  const others = JSON.stringify(rest).slice(1);
  return answer(call, `{${JSON.stringify(name)}:[`, items, `]${others === "}" ? "}" : `,${others}`}`);
};
