// Works on a host's messages in the order in which they came. Long work is done in steps, as a promise, with other work in
// between; later messages wait.
//   TQ1. When nothing waits, short work is done at once: short lines cost no turn of the event loop.
//   TQ2. While it works in steps it says so, and nothing more is read from the host: little waits.

type Work = () => Promise<void> | void;

export interface TurnQueue {
  run(work: Work): void;
  /** Called when everything so far is done; at once if it is. */
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
