// Calls and turns as bars in lanes; each bar is a link.

import type { ReactNode } from "react";
import { useNow } from "../call/timeline-view.tsx";
import { spanText } from "../parts/span-text.ts";
import { toneOf } from "../parts/status.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import type { TreeLane } from "../trace/tree-lanes.ts";
import { planLanes } from "./lanes.ts";

const LANE_PX = 30;

interface LanesViewProps {
  readonly project: string;
  readonly items: readonly TreeLane[];
}

export const LanesView = ({ project, items }: LanesViewProps): ReactNode => {
  const now = useNow(items.some(({ toMs }) => toMs === undefined));
  const { bars, count, startMs, endMs } = planLanes(items, now);
  const kinds = new Map(items.map(({ id, kind }) => [id, kind]));
  return (
    <div className="lanes">
      <ul style={{ height: count * LANE_PX }} aria-label={`${bars.length} calls and turns in ${count} lanes`}>
        {bars.map(({ id, name, status, lane, left, width, fromMs, toMs }) => {
          const style = { top: lane * LANE_PX, left: `${left * 100}%`, width: `${width * 100}%` };
          const words = `${visibleText(name)}, ${status}, ${spanText((toMs ?? now) - fromMs)}`;
          return (
            <li key={id} style={style} className={`lane-bar ${toneOf(status)}`}>
              <Link to={{ kind: kinds.get(id) ?? "call", project, id }} aria-label={words} title={words}>
                <Text most={40}>{name}</Text>
              </Link>
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
