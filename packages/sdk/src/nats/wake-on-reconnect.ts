// A clock whose waits end when NATS is back: a result that waits for the connection must not wait for a backoff too, or an
// outage shorter than a lease could still cost the lease.

import type { NatsLink } from "@toolplane/bus/nats";
import { type Clock, WAIT_OVER } from "../ports/clock.ts";

export const wakeOnReconnect = (clock: Clock, link: Pick<NatsLink, "onReconnect">): Clock => ({
  now: clock.now,
  async sleep(ms, signal) {
    const woken = new AbortController();
    const forget = link.onReconnect(() => woken.abort(WAIT_OVER));
    try {
      await clock.sleep(ms, signal === undefined ? woken.signal : AbortSignal.any([signal, woken.signal]));
    } finally {
      forget();
    }
  },
});
