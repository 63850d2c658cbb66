// Calls as bars in lanes; each bar is a link to its call.

import type { ReactNode } from "react";
import { useNow } from "../call/timeline-view.tsx";
import { spanText } from "../parts/span-text.ts";
import { toneOf } from "../parts/status.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { type Laned, planLanes } from "./lanes.ts";

const LANE_PX = 30;

interface LanesViewProps {
  readonly project: string;
  readonly items: readonly (Laned & { readonly isLocal: boolean })[];
}

export const LanesView = ({ project, items }: LanesViewProps): ReactNode => {
  const now = useNow(items.some(({ toMs }) => toMs === undefined));
  const { bars, count, startMs, endMs } = planLanes(items, now);
  const local = new Set(items.filter(({ isLocal }) => isLocal).map(({ id }) => id));
  return (
    <div className="lanes">
      <ul style={{ height: count * LANE_PX }} aria-label={`${bars.length} calls in ${count} lanes`}>
        {bars.map(({ id, name, status, lane, left, width, fromMs, toMs }) => {
          const style = { top: lane * LANE_PX, left: `${left * 100}%`, width: `${width * 100}%` };
          const words = `${visibleText(name)}, ${status}, ${spanText((toMs ?? now) - fromMs)}`;
          return (
            <li key={id} style={style} className={`lane-bar ${toneOf(status)}`}>
              {local.has(id) ? (
                <span title={words}>
                  <Text most={40}>{name}</Text>
                </span>
              ) : (
                <Link to={{ kind: "call", project, id }} aria-label={words} title={words}>
                  <Text most={40}>{name}</Text>
                </Link>
              )}
            </li>
          );
        })}
      </ul>
      <p className="lanes-axis muted">
        <span>0</span>
        <span>{spanText(endMs - startMs)}</span>
      </p>
    </div>
  );
};
