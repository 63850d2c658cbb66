// The answer that brings commands to a tool service: up to 8 MiB of cards, which stay in memory until the service has read them.
//   UA1. A token whose answers lie unread gets no further commands: it is refused before anything is leased.
//   UA2. Several claims may pass that check at once. So the bytes are counted before the answer is written, and commands that find no
//        room then go back as not started. What is counted is never refused afterwards: the service holds the leases.

import { CLAIM_BYTES, type LeasedCall, readInPieces } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import type { StoredCard } from "../cards/card-body.ts";
import { giveBackCalls } from "../gateway/claim-calls.ts";
import { commandBody, type commandShape } from "../gateway/lease-operations.ts";
import type { BodyOf } from "../http/answers.ts";
import type { BodyShare } from "../http/body-budget.ts";
import type { RouteCall } from "../http/route.ts";

type Command = BodyOf<typeof commandShape>;
type Asker = Pick<RouteCall<unknown, unknown>, "engine" | "openAnswer" | "checkUnread">;

/** UA1. */
export const checkUnread = (call: Asker): void => call.checkUnread(CLAIM_BYTES);

const sizeOf = (calls: readonly LeasedCall[]): number => calls.reduce((sum, { cardBody }) => sum + cardBody.length, 0);

const bodiesOf = (calls: readonly LeasedCall[]): Promise<Command[]> => {
  let left = CLAIM_BYTES;
  return readInPieces(
    calls,
    ({ cardBody }) => cardBody.length,
    (call) => {
      left -= call.cardBody.length;
      return left < 0 ? commandBody(call) : { ...commandBody(call), card: JSON.parse(call.cardBody) as StoredCard };
    },
  );
};

/** Counted as a whole already. */
const counted = (share: BodyShare): BodyShare => ({
  take: () => {},
  arrive: share.arrive,
  hold: share.hold,
  [Symbol.dispose]: () => share[Symbol.dispose](),
});

export interface CommandAnswer {
  readonly commands: readonly Command[];
  readonly openAnswer: () => BodyShare;
}

/** UA2. */
export const prepareCommands = async (call: Asker, leased: readonly LeasedCall[]): Promise<CommandAnswer> => {
  const share = call.openAnswer();
  const openAnswer = () => counted(share);
  try {
    share.take(sizeOf(leased));
  } catch (error) {
    await giveBackCalls(call.engine, leased);
    if (!isToolplaneError(error)) throw error;
    return { commands: [], openAnswer };
  }
  try {
    return { commands: await bodiesOf(leased), openAnswer };
  } catch (error) {
    share[Symbol.dispose]();
    throw error;
  }
};
