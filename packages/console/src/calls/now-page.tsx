// Now: what is happening. Calls as they come, how many, how fast, how many wait, and whether the plane is well.

import { memo, type ReactNode, useMemo } from "react";
import { knownAgentName } from "../agents/use-agent-names.ts";
import { SmallChart } from "../charts/small-chart.tsx";
import { Button } from "../parts/button.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { Page } from "../parts/section.tsx";
import { spanText } from "../parts/span-text.ts";
import { Empty } from "../parts/states.tsx";
import { setQuery, useHere } from "../router/use-place.tsx";
import { useTheme } from "../shell/theme.tsx";
import { FilterBar, filterIn } from "./call-filter.tsx";
import { CallList } from "./call-list.tsx";
import { isOpenFilter, shownRows } from "./call-rows.ts";
import { FirstCall } from "./first-call.tsx";
import { HealthStrip } from "./health-strip.tsx";
import { chartData, percentile, type Second } from "./rates.ts";
import { useCalls } from "./use-calls.ts";

const RECENT_SECONDS = 10;

/** Drawn when a second is counted, not with every batch of events. */
const Charts = memo(({ seconds }: { readonly seconds: readonly Second[] }): ReactNode => {
  const { theme } = useTheme();
  const data = chartData(seconds, Date.now());
  const recent = seconds.slice(-RECENT_SECONDS);
  const rate = recent.reduce((sum, { ended }) => sum + ended, 0) / RECENT_SECONDS;
  const failed = recent.reduce((sum, second) => sum + second.failed, 0);
  const median = percentile(
    recent.flatMap(({ spans }) => spans),
    0.5,
  );
  const last = seconds.at(-1);
  return (
    <div className="charts">
      <SmallChart
        title="Calls ended per second"
        now={`${rate.toFixed(1)}/s${failed > 0 ? `, ${failed} failed` : ""}`}
        times={data.times}
        theme={theme}
        lines={[
          { label: "ended", colour: "--good", values: data.ended, isFilled: true },
          { label: "failed", colour: "--bad", values: data.failed, isFilled: true },
        ]}
      />
      <SmallChart
        title="Time from asked to ended"
        now={median === undefined ? "none lately" : `half within ${spanText(median)}`}
        times={data.times}
        theme={theme}
        lines={[
          { label: "95 %", colour: "--warn", values: data.slow, isSparse: true },
          { label: "half", colour: "--busy", values: data.median, isSparse: true },
        ]}
      />
      <SmallChart
        title="Open calls"
        now={`${last?.queued ?? 0} wait, ${last?.running ?? 0} run`}
        times={data.times}
        theme={theme}
        lines={[
          { label: "waiting", colour: "--warn", values: data.queued, isFilled: true },
          { label: "running", colour: "--busy", values: data.running },
        ]}
      />
    </div>
  );
});

const NothingFits = ({ loaded }: { readonly loaded: number }): ReactNode => (
  <Empty title="No call fits the filters">
    <p>{loaded === 1 ? "1 call is loaded." : `${loaded.toLocaleString("en")} calls are loaded.`}</p>
    <p className="acts">
      <Button onClick={() => setQuery({ tool: "", agent: "", status: "", error: "" })}>Remove the filters</Button>
    </p>
  </Empty>
);

export const NowPage = ({ project }: { readonly project: string }): ReactNode => {
  const { query } = useHere();
  const filter = filterIn(query);
  const { rows, seconds, isListed, problem, older, relist } = useCalls(project, filter);
  const { tool, agent, status, error } = filter;
  const shown = useMemo(
    () => shownRows(rows, { tool, agent, status, error }, (id) => knownAgentName(project, id)),
    [rows, tool, agent, status, error, project],
  );
  const isEmpty = rows.order.length === 0;
  return (
    <Page title="Now" lead={<HealthStrip project={project} />}>
      <Charts seconds={seconds} />
      <FilterBar filter={filter} />
      <ListOf
        what="calls"
        list={{ items: isListed || !isEmpty ? shown : undefined, problem, reload: relist }}
        empty={isEmpty ? <FirstCall project={project} /> : <NothingFits loaded={rows.order.length} />}
      >
        {(items) => (
          <CallList key={isOpenFilter(filter) ? "all" : "some"} project={project} rows={items} older={older} />
        )}
      </ListOf>
    </Page>
  );
};
