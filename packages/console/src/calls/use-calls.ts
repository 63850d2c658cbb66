// The calls of a project as they happen: listed when the stream is fresh, then moved on by events.

import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiProblem, toProblem } from "../api/problem.ts";
import { type Page, projectPath, request, withQuery } from "../api/request.ts";
import { type CallEvent, tryParseCallEvent } from "../events/call-event.ts";
import { useEvents, useHub } from "../events/event-hub.tsx";
import { addListed, applyEvents, type CallFilter, type CallRows, type ListedCall, NO_ROWS } from "./call-rows.ts";
import { planPastSeconds } from "./past-seconds.ts";
import { planSeconds, SECONDS, type Second } from "./rates.ts";

const FIRST_PAGE = 200;
/** The charts are counted and drawn this often, the list with every batch of events. */
const TICK_MS = 1_000;
const TYPING_MS = 300;

export interface Calls {
  readonly rows: CallRows;
  readonly seconds: readonly Second[];
  readonly isListed: boolean;
  readonly problem: ApiProblem | undefined;
  readonly older: (() => void) | undefined;
  readonly relist: () => void;
}

interface Known {
  readonly rows: CallRows;
  readonly seconds: readonly Second[];
}

/** What the server is asked for when a person filters: it knows calls that the page has not loaded. */
const askedFor = ({ tool, agent, status, error }: CallFilter) => ({
  tool_name: tool,
  agent_id: agent,
  error_code: error,
  status: status === "open" ? "" : status,
});

export const useCalls = (project: string, filter: CallFilter): Calls => {
  const { fresh } = useHub();
  const [known, setKnown] = useState<Known>({ rows: NO_ROWS, seconds: [] });
  const [list, setList] = useState<{ cursor: string | null; problem?: ApiProblem } | undefined>();
  const [round, setRound] = useState(0);
  const uncounted = useRef<CallEvent[]>([]);
  const path = projectPath(project, "calls");

  const add = useCallback((items: readonly ListedCall[], anew = false): void => {
    setKnown((before) => ({ ...before, rows: addListed(anew ? NO_ROWS : before.rows, items) }));
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: listed again when the stream is fresh, or when a person asks
  useEffect(() => {
    const gone = new AbortController();
    request<Page<ListedCall>>(withQuery(path, { limit: FIRST_PAGE }), { signal: gone.signal })
      .then((page) => {
        add(page.items, true);
        setKnown(({ rows, seconds }) => {
          const first = seconds[0]?.at ?? Math.floor(Date.now() / 1_000);
          const past = planPastSeconds([...rows.byId.values()], first, page.next_cursor === null);
          // A window that is full has no place for what was before it.
          return { rows, seconds: [...past, ...seconds].slice(-SECONDS) };
        });
        setList({ cursor: page.next_cursor });
      })
      .catch((thrown: unknown) => {
        if (!gone.signal.aborted) setList((before) => ({ cursor: before?.cursor ?? null, problem: toProblem(thrown) }));
      });
    return () => gone.abort();
  }, [path, fresh, round, add]);

  useEvents((events) => {
    const calls = events.map(tryParseCallEvent).filter((event) => event !== undefined);
    if (calls.length === 0) return;
    uncounted.current.push(...calls);
    setKnown((before) => ({ ...before, rows: applyEvents(before.rows, calls) }));
  });

  useEffect(() => {
    const tick = setInterval(() => {
      const events = uncounted.current;
      uncounted.current = [];
      setKnown((before) => ({ ...before, seconds: planSeconds(before.seconds, events, before.rows, Date.now()) }));
    }, TICK_MS);
    return () => clearInterval(tick);
  }, []);

  const wanted = withQuery(path, askedFor(filter));
  useEffect(() => {
    if (wanted === path) return;
    const gone = new AbortController();
    // While a name is being typed, its beginning is not a name that the server knows.
    const timer = setTimeout(() => {
      request<Page<ListedCall>>(`${wanted}&limit=${FIRST_PAGE}`, { signal: gone.signal }).then(
        (page) => add(page.items),
        () => undefined,
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [wanted, path, add]);

  const cursor = list?.cursor ?? null;
  const older = useCallback(() => {
    if (cursor === null) return;
    request<Page<ListedCall>>(withQuery(path, { limit: FIRST_PAGE, cursor })).then(
      (page) => {
        add(page.items);
        setList({ cursor: page.next_cursor });
      },
      (thrown: unknown) => setList({ cursor, problem: toProblem(thrown) }),
    );
  }, [path, cursor, add]);
  const relist = useCallback(() => setRound((before) => before + 1), []);

  return {
    ...known,
    isListed: list !== undefined && list.problem === undefined,
    problem: list?.problem,
    older: cursor === null ? undefined : older,
    relist,
  };
};
