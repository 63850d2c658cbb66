// The timeline drawn as bars, and said as a list.

import { type ReactNode, useEffect, useState } from "react";
import { spanText } from "../parts/span-text.ts";
import { Text } from "../text/text.tsx";
import type { CallBody } from "./call-body.ts";
import { planTimeline } from "./call-timeline.ts";

const TICK_MS = 250;

/** The time now, again and again while something is open. */
export const useNow = (isTicking: boolean): number => {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!isTicking) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
};

interface TimelineViewProps {
  readonly call: CallBody;
  readonly resumedAt: string | null | undefined;
}

export const TimelineView = ({ call, resumedAt }: TimelineViewProps): ReactNode => {
  const now = useNow(call.settled_at === null);
  const { stretches, startMs, endMs } = planTimeline(call, now, resumedAt);
  return (
    <div className="timeline">
      <ol>
        {stretches.map((stretch) => (
          <li key={`${stretch.label} ${stretch.fromMs}`}>
            <span className="timeline-label">{stretch.label}</span>
            <span className="timeline-track" aria-hidden="true">
              <span
                className={`timeline-bar ${stretch.tone} ${stretch.isOpen ? "open" : ""}`}
                style={{ left: `${stretch.left * 100}%`, width: `${stretch.width * 100}%` }}
              />
            </span>
            <span className="timeline-span">
              {spanText(stretch.toMs - stretch.fromMs)}
              {stretch.isOpen && " so far"}
            </span>
            {stretch.note !== "" && (
              <span className="timeline-note muted">
                <Text most={200}>{stretch.note}</Text>
              </span>
            )}
          </li>
        ))}
      </ol>
      {stretches.length > 1 && <p className="muted">{`${spanText(endMs - startMs)} in all`}</p>}
    </div>
  );
};
