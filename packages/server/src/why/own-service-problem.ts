// Why a call waits for a service of the plane itself. These services work for all projects, so their places may be taken by calls of which the
// reader knows nothing and is told nothing. Pure.

import type { CallView, QueuePlace } from "@toolplane/engine";
import type { UpRole } from "../config/settings.ts";
import { SEE_NATS } from "./plain-problem.ts";
import { placeText } from "./queue-words.ts";

interface OwnServiceFacts {
  readonly view: Pick<CallView, "target" | "createdAt" | "availableAt" | "queueDeadline">;
  readonly nowMs: number;
  readonly place?: QueuePlace | undefined;
  readonly services: number;
  /** The processes with this role serve the target. */
  readonly role: UpRole;
  /** What is to be said of a bus that is away; empty when it is there. */
  readonly away: string;
}

/** A service of the plane that has a free place takes a call within a moment. */
const TAKEN_MS = 2_000;

export const planOwnServiceWhy = (facts: OwnServiceFacts): readonly [string, string | null] => {
  const { view, nowMs, place, services, role, away } = facts;
  const sinceMs = nowMs - Math.max(view.createdAt.getTime(), view.availableAt?.getTime() ?? 0);
  const isLate = place?.ahead === 0 && sinceMs > TAKEN_MS && away === "";
  const said = [
    `it waits its turn: ${services === 1 ? "1 service" : `${services} services`} of target ${view.target} ${services === 1 ? "takes" : "take"} calls of all projects`,
    ...(place === undefined ? [] : [`of this project, ${placeText(place)}`]),
    ...(isLate
      ? [
          `it has waited ${Math.round(sinceMs / 1_000)} s, so other calls probably take all places of the plane's own services`,
        ]
      : []),
  ];
  if (away !== "") return [`${said.join("; ")}${away}`, SEE_NATS];
  if (!isLate) return [said.join("; "), null];
  return [
    `${said.join("; ")}; it gives up at ${view.queueDeadline.toISOString()}`,
    `if it stays so, let the operator of the plane start another process over the same database: toolplane up --roles ${role} --database-url URL`,
  ];
};
