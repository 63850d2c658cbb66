// The answer to a caller: the facts, the state of the call, and its result when it has one. It is made from what is known in this
// process where possible, so that a waiting caller is answered without reading its call.

import type { ToolResultContent } from "@toolplane/protocol";
import type { CallFacts, CallStatus, CallView } from "./call.ts";
import { MAX_TOLD_BYTES } from "./read.sql.ts";
import type { SettledCall } from "./settle-watch.ts";

export type CallAnswer = CallFacts &
  Pick<CallView, "resultCardId" | "errorCode"> & {
    readonly status: CallStatus;
    /** The content of the result card; absent where it has to be read. */
    readonly content?: ToolResultContent | undefined;
  };

/** In stored form: a card that is read has its members in canonical order, so the answer is the same either way. */
const contentOf = ({ cardBody, content, resultCardId }: SettledCall): ToolResultContent | undefined => {
  if (cardBody === null) return content;
  if (cardBody.length > MAX_TOLD_BYTES && resultCardId !== null) return undefined;
  return (JSON.parse(cardBody) as { content: ToolResultContent }).content;
};

export const answerOfSettled = (settled: SettledCall): CallAnswer => ({
  ...settled.facts,
  status: settled.status,
  resultCardId: settled.resultCardId,
  errorCode: settled.errorCode,
  content: contentOf(settled),
});
