// SIGTERM and SIGINT stop a service properly. The first signal drains the service and then ends the process. The second finds no
// handler any more, so the system ends the process at once.

export interface ProcessPort {
  on(event: "uncaughtException", listener: (thrown: unknown) => void): unknown;
  once(signal: NodeJS.Signals, listener: () => void): unknown;
  once(event: "uncaughtException", listener: (thrown: unknown) => void): unknown;
  removeListener(signal: NodeJS.Signals, listener: () => void): unknown;
  removeListener(event: "uncaughtException", listener: (thrown: unknown) => void): unknown;
  readonly stderr?: { write(text: string): unknown } | undefined;
  listenerCount(event: NodeJS.Signals | "uncaughtException"): number;
  exit(code: number): void;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Returns the way to stop listening. */
export const stopOnSignals = (port: ProcessPort, stop: () => Promise<void>): (() => void) => {
  const listeners = SIGNALS.map((signal) => {
    const listener = (): void => {
      forget();
      // When other listeners exist, they decide when the process ends.
      const alone = port.listenerCount(signal) === 0;
      void stop().then(() => {
        if (alone) port.exit(0);
      });
    };
    return { signal, listener };
  });
  const forget = (): void => {
    for (const { signal, listener } of listeners) port.removeListener(signal, listener);
  };
  for (const { signal, listener } of listeners) port.once(signal, listener);
  return forget;
};
