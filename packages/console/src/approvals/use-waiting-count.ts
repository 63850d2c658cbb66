// How many calls wait for a person, for the navigation. Counted up to a page of them.

import { type Page, projectPath, request } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import { kindOf } from "../events/call-event.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import type { PlaneEvent } from "../events/event-stream.ts";

const MOST = 50;
const PHASES: ReadonlySet<unknown> = new Set(["approval_wanted", "approval_decided"]);

/** Whether an event may have changed which calls wait for a person. */
const isAboutApproval = (event: PlaneEvent): boolean =>
  kindOf(event) === "call" &&
  (PHASES.has(event.payload.phase) || (event.payload.phase === "canceled" && event.payload.attempt === 0));

/** As text; "" when none waits, or this login may not see it. */
export const useWaitingCount = (project: string | undefined): string => {
  const path = project === undefined ? undefined : `${projectPath(project, "approvals")}?limit=${MOST}`;
  const waiting = useLoad(path, (signal) => request<Page<unknown>>(path ?? "", { signal }));
  useReloadOn(isAboutApproval, waiting.reload);
  const count = waiting.value?.items.length ?? 0;
  if (count === 0) return "";
  return waiting.value?.next_cursor === null ? String(count) : `${count}+`;
};
