// What is still waited for when the answer of a request is over. A client of a session may go and come back for the result of its call:
// until then the request keeps its place, so that a client cannot leave more calls behind than it may have requests open.

export interface McpWaits {
  /** The answer is over. */
  answered(): void;
  /** A call is waited for until this is disposed. */
  waits(): Disposable;
}

/** `ended` runs when the answer is over and nothing is waited for. */
export const createMcpWaits = (ended: () => void): McpWaits => {
  let open = 0;
  let isAnswered = false;
  const finish = (): void => {
    if (isAnswered && open === 0) ended();
  };
  return {
    answered() {
      isAnswered = true;
      finish();
    },
    waits() {
      open += 1;
      return {
        [Symbol.dispose]() {
          open -= 1;
          finish();
        },
      };
    },
  };
};
