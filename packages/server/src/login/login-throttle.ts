// How often a wrong login may be tried. A code and a token cannot be guessed; this bounds what trying costs the server, and how
// many rows it adds to the audit.

import { type Clock, systemClock } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";

export interface LoginThrottle {
  /** Throws `rate_limited` when too many logins of this address failed in the last minute. */
  check(address: string): void;
  /** Counts a failure; true when it is to be written down in the audit. */
  failed(address: string): boolean;
}

const WINDOW_MS = 60_000;
/** A person who pastes the wrong link tries a few times. */
const FAILURES_PER_ADDRESS = 20;
/** Of all addresses in one window: more rows say nothing new. */
const AUDITED_FAILURES = 60;
/** Of which the failures are remembered. */
const MAX_ADDRESSES = 10_000;

export const createLoginThrottle = (clock: Pick<Clock, "now"> = systemClock): LoginThrottle => {
  const byAddress = new Map<string, number>();
  let since = clock.now();
  let inAll = 0;
  const look = (): void => {
    if (clock.now() - since < WINDOW_MS) return;
    since = clock.now();
    inAll = 0;
    byAddress.clear();
  };
  return {
    check(address) {
      look();
      if ((byAddress.get(address) ?? 0) >= FAILURES_PER_ADDRESS)
        throw new ToolplaneError("rate_limited", "too many logins failed; wait a minute, then try again");
    },
    failed(address) {
      look();
      inAll += 1;
      if (byAddress.has(address) || byAddress.size < MAX_ADDRESSES)
        byAddress.set(address, (byAddress.get(address) ?? 0) + 1);
      return inAll <= AUDITED_FAILURES;
    },
  };
};
