// C01 to C05: how the service talks to its server.

import { callsOf, isFetching, type SeenRequest } from "../evidence.ts";
import { AT_ONCE } from "../scenarios/good-calls.ts";
import { fail, judgeEach, notApplicable, pass } from "../verdict.ts";
import type { Judges } from "./judge.ts";

/** These need no token on the real server either. */
const isPublic = ({ path }: SeenRequest): boolean => path === "/health" || path === "/live";

export const connectionJudges: Judges = {
  "UTP-C01": ({ requests }) =>
    judgeEach(
      requests.filter((request) => !isPublic(request)),
      ({ hasToken, method, path }) =>
        hasToken ? undefined : `${method} ${path} came without "Authorization: Bearer" and TOOLPLANE_TOKEN`,
      { good: "every request carried it", none: "nothing was asked" },
    ),
  "UTP-C02": ({ requests, transport }) =>
    judgeEach(
      requests.filter(({ method }) => method !== "GET" && method !== "HEAD"),
      ({ known, method, path }) =>
        known ? undefined : `${method} ${path} is no ${transport === "nats" ? "subject" : "route"} for tool services`,
      { good: "only claims, leases and results were sent", none: "nothing was sent" },
    ),
  "UTP-C03": ({ registrations }) =>
    judgeEach(registrations, ({ toolName, fault }) => (fault === undefined ? undefined : `${toolName}: ${fault}`), {
      good: "the registry takes them",
      none: "the service registers nothing",
    }),
  "UTP-C04": (evidence) => {
    const bad = evidence.claims.find(({ fault }) => fault !== undefined);
    if (bad?.fault !== undefined) return fail(`a claim would be refused: ${bad.fault}`);
    const calls = callsOf(evidence, AT_ONCE);
    const forgotten = calls.find(({ trace }) => trace.offers.length === 0 && trace.releases === 0);
    if (forgotten !== undefined)
      return fail(`${forgotten.call.label} (of ${calls.length}) was neither answered nor given back`);
    return pass(`${calls.length} at once, ${calls.length} done`);
  },
  "UTP-C05": (evidence) => {
    if (evidence.calls.length === 0) return notApplicable("no call was made");
    if (evidence.transport === "http") return pass("it claimed again after an error and a cut answer");
    return isFetching(evidence)
      ? pass("it fetched again when its durable was back")
      : notApplicable("the service listens and fetches nothing");
  },
};
