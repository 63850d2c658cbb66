// A clock whose waits end when NATS is back: a result that waits for the connection must not wait for a backoff too, or an
// outage shorter than a lease could still cost the lease.

import type { NatsLink } from "@toolplane/bus/nats";
import { type Clock, createWaker } from "../ports/clock.ts";

export const wakeOnReconnect = (clock: Clock, link: Pick<NatsLink, "onReconnect">): Clock => ({
  now: clock.now,
  async sleep(ms, signal) {
    const over = createWaker();
    const forget = link.onReconnect(over.wake);
    if (signal?.aborted === true) over.wake();
    signal?.addEventListener("abort", over.wake, { once: true });
    try {
      await clock.sleep(ms, over.signal);
    } finally {
      forget();
      signal?.removeEventListener("abort", over.wake);
    }
  },
});
