// A program that does not catch why its service could not start ends with that sentence instead of a stack: the stack would show
// only the SDK's own files. A program that catches the error sees it as any other.

import type { Log } from "../ports/log.ts";
import type { ProcessPort } from "./process-signals.ts";

const FAILED = 1;

export const endInOneSentence = (error: Error, port: ProcessPort): void => {
  const listener = (thrown: unknown): void => {
    forget();
    if (thrown !== error) throw thrown;
    port.stderr?.write(`${error.message}\n`);
    port.exit(FAILED);
  };
  const forget = (): void => void port.removeListener("uncaughtException", listener);
  port.once("uncaughtException", listener);
  // An error that nothing catches comes before the next turn of the event loop.
  setImmediate(() => setImmediate(forget));
};

/** After `serveTools` has returned nothing can catch the error any more. A program with its own signals goes on, and its log has the sentence. */
export const endRefused = ({ message }: Error, port: ProcessPort | undefined, log: Log): void => {
  if (port === undefined) {
    log.error(message);
    return;
  }
  port.stderr?.write(`${message}\n`);
  port.exit(FAILED);
};
