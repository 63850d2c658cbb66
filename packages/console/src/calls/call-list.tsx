// The list of calls. Only the rows on the screen are drawn; the keyboard moves through all of them.

import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useAgentNames } from "../agents/use-agent-names.ts";
import { spanBetween, spanText } from "../parts/span-text.ts";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { isTyping, Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import type { CallRow } from "./call-rows.ts";
import { planWindow, ROW_PX } from "./visible-window.ts";

interface CallListProps {
  readonly project: string;
  readonly rows: readonly CallRow[];
  readonly older: (() => void) | undefined;
}

const spanOf = (row: CallRow): string => {
  const span = spanBetween(row.createdAt, row.settledAt);
  return span === undefined ? "" : spanText(span);
};

interface RowProps {
  readonly project: string;
  readonly row: CallRow;
  readonly at: number;
  readonly agentName: string;
}

const Row = ({ project, row, at, agentName }: RowProps): ReactNode => (
  <li className="call-row">
    <Link to={{ kind: "call", project, id: row.id }} data-at={at} className="call-link">
      <span className="call-status">
        <Status status={row.status} />
      </span>
      <span className="call-tool">
        <Text most={64}>{row.toolName}</Text>
      </span>
      <span className="call-error">
        {row.errorCode !== "" && <code className="code">{row.errorCode}</code>}
        {row.attempts > 1 && <span className="muted">{row.attempts} attempts</span>}
      </span>
      <span className="call-agent muted">
        <Text most={64}>{agentName}</Text>
      </span>
      <span className="call-span">{spanOf(row)}</span>
      <span className="call-when muted">
        <When at={row.createdAt} />
      </span>
    </Link>
  </li>
);

type KeyStroke = Pick<globalThis.KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "preventDefault">;

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 15, PageUp: -15 };

export const CallList = ({ project, rows, older }: CallListProps): ReactNode => {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrolled: 0, seen: 600 });
  const wanted = useRef<number>(undefined);

  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const look = (): void => setView({ scrolled: place.scrollTop, seen: place.clientHeight });
    look();
    const watch = new ResizeObserver(look);
    watch.observe(place);
    place.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      place.removeEventListener("scroll", look);
    };
  }, []);

  const { first, end, before, height } = planWindow(rows.length, view.scrolled, view.seen);
  const drawn = rows.slice(first, end);
  const nameOf = useAgentNames(
    project,
    drawn.map(({ agentId }) => agentId),
  );

  // A reader who scrolled down keeps the rows that are being read, while new ones come in above.
  const newest = rows[0]?.id;
  const anchor = useRef<{ id: string | undefined; count: number }>({ id: newest, count: rows.length });
  useLayoutEffect(() => {
    const place = box.current;
    const known = anchor.current.id;
    if (place !== null && place.scrollTop > ROW_PX && known !== undefined && known !== newest) {
      const moved = rows.findIndex(({ id }) => id === known);
      if (moved > 0) place.scrollTop += moved * ROW_PX;
    }
    anchor.current = { id: newest, count: rows.length };
  }, [rows, newest]);

  useEffect(() => {
    if (wanted.current === undefined) return;
    const link = box.current?.querySelector<HTMLElement>(`[data-at="${wanted.current}"]`);
    if (link === null || link === undefined) return;
    wanted.current = undefined;
    link.focus({ preventScroll: true });
  });

  const step = (event: KeyStroke): void => {
    const by = STEPS[event.key];
    const place = box.current;
    if (by === undefined || place === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const from = Number(document.activeElement?.getAttribute("data-at") ?? (by > 0 ? -1 : 0));
    const to = Math.min(Math.max(from + by, 0), rows.length - 1);
    wanted.current = to;
    const top = to * ROW_PX;
    if (top < place.scrollTop) place.scrollTop = top;
    else if (top + ROW_PX > place.scrollTop + place.clientHeight) place.scrollTop = top + ROW_PX - place.clientHeight;
    const link = place.querySelector<HTMLElement>(`[data-at="${to}"]`);
    link?.focus({ preventScroll: true });
  };

  // From anywhere on the page, j and k begin at the first call.
  const stepping = useRef(step);
  stepping.current = step;
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent): void => {
      if ((event.key !== "j" && event.key !== "k") || isTyping(event.target)) return;
      if (box.current?.contains(document.activeElement) || document.querySelector("dialog[open]") !== null) return;
      stepping.current(event);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);

  return (
    <div className="call-table">
      <div className="call-head" aria-hidden="true">
        <span className="call-status">Status</span>
        <span>Tool</span>
        <span className="call-error">Error</span>
        <span className="call-agent">Asked by</span>
        <span className="call-span">Took</span>
        <span className="call-when">Asked at</span>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the links inside */}
      <div ref={box} className="call-list" onKeyDown={step}>
        <ul aria-label="Calls, newest first" style={{ height }}>
          <li aria-hidden="true" style={{ height: before }} />
          {drawn.map((row, at) => (
            <Row key={row.id} project={project} row={row} at={first + at} agentName={nameOf(row.agentId)} />
          ))}
        </ul>
        {older !== undefined && (
          <p className="more">
            <button type="button" className="button plain" onClick={older}>
              Show older calls
            </button>
          </p>
        )}
      </div>
    </div>
  );
};
