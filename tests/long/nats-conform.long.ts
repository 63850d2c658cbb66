// Clauses that do not depend on the transport, broken over NATS: each wrong service fails its clause there too, and no other.

import { WRONG_NATS_SERVICES } from "@toolplane/testkit";
import { beforeAll, expect, test } from "vitest";
import { failedIn, faultsIn } from "../conform/conform-run.ts";
import { tryOverNats } from "../conform/nats-corpus-run.ts";

let outcomeOf: Awaited<ReturnType<typeof tryOverNats>>;
beforeAll(async () => {
  outcomeOf = await tryOverNats(WRONG_NATS_SERVICES);
});

test.each(WRONG_NATS_SERVICES.map((service) => [service.clause, service.name, service] as const))(
  "%s over NATS: %s",
  (clause, _name, service) => {
    const { code, report } = outcomeOf(service);
    expect(failedIn(report), faultsIn(report).join("\n")).toEqual([clause]);
    expect(code).toBe(1);
  },
);
