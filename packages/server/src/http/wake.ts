// A loop that sleeps until it is rung or its time is over. A ring while it is awake is not lost: the next sleep ends at once.

export interface Wake {
  readonly ring: () => void;
  readonly wait: (ms: number) => Promise<void>;
}

export const createWake = (): Wake => {
  let rung = false;
  let resolve: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      resolve?.();
    },
    wait: (ms) =>
      new Promise((done) => {
        const finish = (): void => {
          clearTimeout(timer);
          resolve = undefined;
          rung = false;
          done();
        };
        const timer = setTimeout(finish, ms);
        resolve = finish;
        if (rung) finish();
      }),
  };
};
