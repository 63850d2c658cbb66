// The health of the plane in one line: server, store, bus, services, hosts, limits and breakers. A part that does not work shows what a person can do about it.

import { memo, type ReactNode, useEffect } from "react";
import { projectPath, request } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import { useHub } from "../events/event-hub.tsx";
import type { HostBody, ServiceBody } from "../fleet/fleet-body.ts";
import type { LimitBody } from "../limits/limit-body.ts";
import { planLimitLights } from "../limits/plan-limits.ts";
import { Link } from "../router/use-place.tsx";
import { visibleText } from "../text/visible-text.ts";

interface Health {
  readonly status: string;
  readonly version: string;
  readonly store: string;
  readonly bus: string;
  readonly bus_connected?: boolean;
  readonly loop_pause_ms?: number;
}

const EVERY_MS = 5_000;
/** The server logs a pause of this length, too. */
const LONG_PAUSE_MS = 250;

const STREAM_WORDS = {
  connecting: "connecting",
  live: "live",
  away: "connecting again",
  refused: "not logged in",
  missing: "no such project",
} as const;

const useEvery = (act: () => void): void => {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) act();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [act]);
};

const Light = ({ tone, children }: { readonly tone: string; readonly children: ReactNode }): ReactNode => (
  <li className={`light ${tone}`}>
    <span className="lamp" aria-hidden="true" />
    {children}
  </li>
);

export const HealthStrip = memo(({ project }: { readonly project: string }): ReactNode => {
  const { state } = useHub();
  const health = useLoad("health", (signal) => request<Health>("/health", { signal }));
  const services = useLoad(`services ${project}`, (signal) =>
    request<{ items: readonly ServiceBody[] }>(projectPath(project, "services"), { signal }),
  );
  const hosts = useLoad(`hosts ${project}`, (signal) =>
    request<{ items: readonly HostBody[] }>(projectPath(project, "hosts"), { signal }),
  );
  const limits = useLoad(`limits ${project}`, (signal) =>
    request<{ items: readonly LimitBody[] }>(projectPath(project, "limits"), { signal }),
  );
  useEvery(limits.reload);
  useEvery(health.reload);
  useEvery(services.reload);
  useEvery(hosts.reload);
  const { value, problem } = health;
  const isUp = value?.status === "ok" && problem === undefined;
  const failed = hosts.value?.items.filter(({ state: phase }) => phase === "failed") ?? [];
  const targets = new Set(services.value?.items.map(({ target }) => target));
  const toServices = { kind: "page", project, page: "services" } as const;
  return (
    <ul className="health" aria-label="Health of the plane">
      <Light tone={state === "live" ? "good" : "warn"}>{STREAM_WORDS[state]}</Light>
      <Light tone={isUp ? "good" : "bad"}>
        {isUp ? `server ${value.version}` : (problem?.message ?? (value === undefined ? "asking" : value.status))}
      </Light>
      {value !== undefined && <Light tone={value.status === "store_away" ? "bad" : "good"}>{value.store} store</Light>}
      {value !== undefined && (
        <Light tone={value.bus_connected === false ? "warn" : "good"}>
          {value.bus} bus{value.bus_connected === false ? " is away: calls are late" : ""}
        </Light>
      )}
      {(value?.loop_pause_ms ?? 0) >= LONG_PAUSE_MS && (
        <Light tone="warn">{`server was busy for ${value?.loop_pause_ms} ms`}</Light>
      )}
      {services.value !== undefined && (
        <Light tone={targets.size > 0 ? "good" : "warn"}>
          <Link to={toServices}>{targets.size === 1 ? "1 target served" : `${targets.size} targets served`}</Link>
        </Light>
      )}
      {(hosts.value?.items.length ?? 0) > 0 && (
        <Light tone={failed.length > 0 ? "bad" : "good"}>
          <Link to={toServices}>
            {failed.length > 0 ? `${failed.length} of ${hosts.value?.items.length} hosts failed` : "hosts"}
          </Link>
        </Light>
      )}
      {planLimitLights(limits.value?.items ?? []).map(({ tone, text, tool }) => (
        <Light key={text} tone={tone}>
          <Link
            to={tool === undefined ? { kind: "page", project, page: "tools" } : { kind: "tool", project, id: tool }}
          >
            {visibleText(text)}
          </Link>
        </Light>
      ))}
    </ul>
  );
});
