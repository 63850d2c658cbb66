// One event stream for the whole page: components subscribe to it. Events are handed on a few times a second, many at once, so
// that a busy plane costs the page the same as a quiet one.

import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { projectPath } from "../api/request.ts";
import { type PlaneEvent, runEventStream, type StreamState } from "./event-stream.ts";

/** Often enough to look live, seldom enough that a list of thousands is not drawn in every frame. */
const FLUSH_MS = 120;
/** A hidden page keeps this many events; when it is shown again after more, it lists everything anew. */
const MOST_WAITING = 20_000;

type Listener = (events: readonly PlaneEvent[]) => void;

interface Hub {
  readonly state: StreamState;
  /** Grows each time that everything has to be listed again. */
  readonly fresh: number;
  readonly subscribe: (listener: Listener) => () => void;
}

const Context = createContext<Hub>({ state: "connecting", fresh: 0, subscribe: () => () => undefined });

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

const connectTo =
  (project: string) =>
  (lastId: string | undefined, signal: AbortSignal): Promise<Response> =>
    fetch(projectPath(project, "events"), {
      signal,
      credentials: "same-origin",
      headers: { accept: "text/event-stream", ...(lastId === undefined ? {} : { "last-event-id": lastId }) },
    });

interface EventHubProps {
  readonly project: string | undefined;
  readonly onRefused: () => void;
  readonly children: ReactNode;
}

export const EventHub = ({ project, onRefused, children }: EventHubProps): ReactNode => {
  const [state, setState] = useState<StreamState>("connecting");
  const [fresh, setFresh] = useState(0);
  const listeners = useRef(new Set<Listener>());
  const refused = useRef(onRefused);
  refused.current = onRefused;

  useEffect(() => {
    if (project === undefined) return;
    const over = new AbortController();
    let waiting: PlaneEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = (): void => {
      timer = undefined;
      const events = waiting;
      waiting = [];
      for (const listener of listeners.current) listener(events);
    };
    const ports = { connect: connectTo(project), sleep: pause, now: () => Date.now() };
    const listener = {
      events(events: readonly PlaneEvent[]) {
        waiting.push(...events);
        if (waiting.length > MOST_WAITING) {
          waiting = [];
          setFresh((before) => before + 1);
        }
        timer ??= setTimeout(flush, FLUSH_MS);
      },
      state(next: StreamState) {
        setState(next);
        if (next === "refused") refused.current();
      },
      fresh: () => setFresh((before) => before + 1),
    };
    void runEventStream(ports, listener, over.signal);
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  }, [project]);

  const hub = useMemo<Hub>(
    () => ({
      state,
      fresh,
      subscribe(listener) {
        listeners.current.add(listener);
        return () => listeners.current.delete(listener);
      },
    }),
    [state, fresh],
  );
  return <Context value={hub}>{children}</Context>;
};

export const useHub = (): Hub => useContext(Context);

/** Calls `listener` with every batch of events; it may be a new function in every render. */
export const useEvents = (listener: Listener): void => {
  const { subscribe } = useHub();
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => subscribe((events) => current.current(events)), [subscribe]);
};

/** Calls `act` soon after an event for which `concerns` is true, at most once in `everyMs`, and when all is listed again. */
export const useReloadOn = (concerns: (event: PlaneEvent) => boolean, act: () => void, everyMs = FLUSH_MS): void => {
  const { fresh } = useHub();
  const current = useRef(act);
  current.current = act;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const actedAt = useRef(Number.NEGATIVE_INFINITY);
  const seen = useRef(fresh);
  useEffect(() => {
    if (seen.current === fresh) return;
    seen.current = fresh;
    current.current();
  }, [fresh]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEvents((events) => {
    if (timer.current !== undefined || !events.some(concerns)) return;
    const rest = actedAt.current + everyMs - Date.now();
    timer.current = setTimeout(
      () => {
        timer.current = undefined;
        actedAt.current = Date.now();
        current.current();
      },
      Math.max(FLUSH_MS, rest),
    );
  });
};
