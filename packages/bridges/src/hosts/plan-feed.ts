// Which process gets the next request, and whether another one is needed.
//   FD1. A process that cannot cancel never has two requests; others have no more than the limit, in number and in bytes.
//   FD2. An idle process comes first, then the one with the least to do; a new one is started while all are busy.
//   FD3. While the breaker is half open, only one request is sent: the probe.

export interface FeedView {
  readonly state: "starting" | "ready" | "draining" | "stopping";
  readonly inFlight: number;
  readonly bytes: number;
  readonly cancels: boolean;
}

export interface FeedLimits {
  readonly pool: number;
  readonly inFlight: number;
  readonly bytesInFlight: number;
}

export interface FeedPlan {
  /** Its place in the list. */
  readonly feed: number | undefined;
  readonly start: boolean;
}

const hasRoom = (view: FeedView, limits: FeedLimits): boolean =>
  view.state === "ready" &&
  view.inFlight < (view.cancels ? limits.inFlight : 1) &&
  (view.inFlight === 0 || view.bytes < limits.bytesInFlight);

export const planFeed = (
  views: readonly FeedView[],
  limits: FeedLimits,
  /** Calls that wait, the next one included. */
  waiting: number,
  probing: boolean,
): FeedPlan => {
  if (probing && views.some(({ inFlight }) => inFlight > 0)) return { feed: undefined, start: false };
  let feed: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  let starting = 0;
  for (let index = 0; index < views.length; index += 1) {
    const view = views[index] as FeedView;
    if (view.state === "starting") starting += 1;
    if (view.inFlight >= least || !hasRoom(view, limits)) continue;
    feed = index;
    least = view.inFlight;
  }
  // Never start more than there are waiting calls: starting is expensive, and the first process that is ready may run them all.
  const start = least > 0 && starting < waiting && views.length < (probing ? 1 : limits.pool);
  return { feed, start };
};
