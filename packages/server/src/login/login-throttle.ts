// How many wrong logins are looked up. A code and a token have 256 random bits and cannot be guessed; this bounds what wrong ones cost
// the server, and how many rows they add to the audit.
//   LT1. A login counts from its beginning, before it is looked up: logins that arrive together count together.
//   LT2. An address with many failures has its logins looked up one at a time. So a right one still gets in, also behind a proxy
//        that gives all people one address.

import { type Clock, systemClock } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";

/** A login that is being looked up; disposed when that is done. */
export interface LoginTry extends Disposable {
  /** It was wrong; true when that is to be written down in the audit. */
  failed(): boolean;
}

export interface LoginThrottle {
  /** Throws `rate_limited` when the address has failed too often and another of its logins is looked up now. */
  begin(address: string): LoginTry;
}

const WINDOW_MS = 60_000;
/** A person who pastes the wrong link tries a few times. */
const FAILURES_PER_ADDRESS = 20;
/** Of all addresses in one window: more rows say nothing new. */
const AUDITED_FAILURES = 60;
/** Of which the failures are remembered; all others count as one. */
const MAX_ADDRESSES = 10_000;
const OTHERS = "";
const RETRY_SECONDS = 1;

interface Tries {
  failed: number;
  open: number;
}

const tooMany = (): ToolplaneError =>
  new ToolplaneError(
    "rate_limited",
    `too many logins of this address failed, so they are tried one at a time; try again in ${RETRY_SECONDS} second`,
    { detail: { retry_after_seconds: RETRY_SECONDS } },
  );

export const createLoginThrottle = (clock: Pick<Clock, "now"> = systemClock): LoginThrottle => {
  const byAddress = new Map<string, Tries>();
  let since = clock.now();
  let failedInAll = 0;
  const beginWindow = (): void => {
    if (clock.now() - since < WINDOW_MS) return;
    since = clock.now();
    failedInAll = 0;
    for (const [address, tries] of byAddress) {
      tries.failed = 0;
      if (tries.open === 0) byAddress.delete(address);
    }
  };
  const triesOf = (address: string): Tries => {
    const key = byAddress.has(address) || byAddress.size < MAX_ADDRESSES ? address : OTHERS;
    const found = byAddress.get(key) ?? { failed: 0, open: 0 };
    byAddress.set(key, found);
    return found;
  };
  return {
    begin(address) {
      beginWindow();
      const tries = triesOf(address);
      if (tries.open > 0 && tries.failed + tries.open >= FAILURES_PER_ADDRESS) throw tooMany();
      tries.open += 1;
      let isOpen = true;
      return {
        failed() {
          tries.failed += 1;
          failedInAll += 1;
          return failedInAll <= AUDITED_FAILURES;
        },
        [Symbol.dispose]() {
          if (!isOpen) return;
          isOpen = false;
          tries.open -= 1;
        },
      };
    },
  };
};
