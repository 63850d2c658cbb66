// Work on what a host says, in the order in which the host said it. Work that takes long is done in turns with others, as a
// promise; what comes meanwhile waits behind it.
//   TQ1. Work that is done at once is done at once when nothing waits: short lines cost no turn of the event loop.
//   TQ2. While it works in turns it says so, and nothing more is read from the host: what waits stays small.

type Work = () => Promise<void> | void;

export interface TurnQueue {
  run(work: Work): void;
  /** When everything so far is done; at once if it is. */
  whenIdle(then: () => void): void;
}

export const createTurnQueue = (onBusy: (busy: boolean) => void): TurnQueue => {
  const waiting: Work[] = [];
  let busy = false;

  const drain = async (first: Promise<void>): Promise<void> => {
    await first;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
    busy = false;
    onBusy(false);
  };

  const run = (work: Work): void => {
    if (busy) {
      waiting.push(work);
      return;
    }
    const done = work();
    if (done === undefined) return;
    busy = true;
    onBusy(true);
    void drain(done);
  };

  return { run, whenIdle: run };
};
