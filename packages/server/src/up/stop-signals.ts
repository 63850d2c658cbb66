// Requests to stop, told apart from their echoes: a second request ends the process at once, so one request must not look like
// two.
//   SS1. SIGTERM and SIGINT count each time. npm passes them on to us, also those that the terminal has already sent to the whole
//       group: under npm the same signal again within a moment is an echo.
//   SS2. A closing terminal sends SIGHUP through the kernel and through the shell: it counts as one request, and never as the
//       second one that ends the process at once.
//   SS3. `npx` starts us through a shell that passes no signal on. The shell waits for us while it lives, so its death is a
//       request to stop, unless one was made before.

/** What this needs of the process. */
export interface SignalSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ppid: number;
  on(signal: NodeJS.Signals, heard: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, heard: (signal: NodeJS.Signals) => void): unknown;
}

// npm needs milliseconds, on a busy machine hundreds. A user who presses Ctrl-C twice that quickly will press it a third time.
const ECHO_MS = 1_000;
const PARENT_LOOK_MS = 500;

/** Tells of every request to stop; returns the way to stop listening. */
export const listenForStop = (source: SignalSource, heard: () => void): (() => void) => {
  const event = source.env.npm_lifecycle_event;
  const parent = source.ppid;
  const last = new Map<NodeJS.Signals, number>();
  let asked = false;
  const ask = (): void => {
    asked = true;
    heard();
  };
  const askOnce = (): void => {
    if (!asked) ask();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    const before = last.get(signal) ?? Number.NEGATIVE_INFINITY;
    last.set(signal, now);
    if (event === undefined || now - before > ECHO_MS) ask();
  };
  const watch =
    event === "npx"
      ? setInterval(() => {
          if (source.ppid !== parent) askOnce();
        }, PARENT_LOOK_MS).unref()
      : undefined;
  source.on("SIGTERM", onSignal);
  source.on("SIGINT", onSignal);
  source.on("SIGHUP", askOnce);
  return () => {
    clearInterval(watch);
    source.off("SIGTERM", onSignal);
    source.off("SIGINT", onSignal);
    source.off("SIGHUP", askOnce);
  };
};
