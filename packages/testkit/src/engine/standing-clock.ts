// A clock that stands: waits end as ever, and nothing grows old. A service that has seen its queue empty looks again by itself after a
// second of this clock, which never comes, so what a test counts does not depend on how busy the machine is.

import { type Clock, systemClock } from "@toolplane/engine";

export const createStandingClock = (): Clock => {
  const now = systemClock.now();
  return { ...systemClock, now: () => now };
};
