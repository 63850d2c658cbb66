// What a caller is told of its call: the facts, where the call is, and its result when it has one. Made of what is known here
// where that is enough, so that a caller which waits is answered without reading its call back.

import type { ToolResultContent } from "@toolplane/protocol";
import type { CallFacts, CallStatus, CallView } from "./call.ts";
import type { SettledCall } from "./settle-watch.ts";

export type CallAnswer = CallFacts &
  Pick<CallView, "resultCardId" | "errorCode"> & {
    readonly status: CallStatus;
    /** What the result card says; absent where it has to be read. */
    readonly content?: ToolResultContent | undefined;
  };

/** Hundreds may wait for one call, and each has a copy: a larger result is read when its reader has room for it. */
const MAX_COPIED_CHARS = 64 * 1024;

/** As it is stored: a card that is read back has its members in canonical order, and an answer is the same either way. */
const contentOf = ({ cardBody, content, resultCardId }: SettledCall): ToolResultContent | undefined => {
  if (cardBody === null) return content;
  if (cardBody.length > MAX_COPIED_CHARS && resultCardId !== null) return undefined;
  return (JSON.parse(cardBody) as { content: ToolResultContent }).content;
};

export const answerOfSettled = (settled: SettledCall): CallAnswer => ({
  ...settled.facts,
  status: settled.status,
  resultCardId: settled.resultCardId,
  errorCode: settled.errorCode,
  content: contentOf(settled),
});
