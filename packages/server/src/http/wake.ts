// A loop that sleeps until it is rung, or until its time is over. What rings while it is awake is not lost.

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
