// The conformance kit over NATS, against services that keep every clause and services that break exactly one of those there are
// over NATS only. That the others are seen there too is tried in tests/long.

import { CLAUSES } from "@toolplane/server/internal";
import { RIGHT_NATS_SERVICES, WRONG_NATS_SERVICES } from "@toolplane/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { failedIn, faultsIn } from "./conform-run.ts";
import { tryOverNats } from "./nats-corpus-run.ts";

const SEEN: readonly string[] = [
  "[UTP-C36] a command that is never acknowledged",
  "[UTP-C37] a command that is acknowledged before its lease is asked for",
  "[UTP-C38] a call of somebody else that is settled",
  "[UTP-C39] a call that is dropped because it is not due yet",
  "[UTP-C40] a question in the name of another actor",
  "[UTP-C41] a command of another project that is taken",
  "[UTP-C42] a question without the headers of its call",
  "[UTP-C43] a lease that is never renewed",
  "[UTP-C44] a command that is run although its headers contradict its subject",
];

const clauseIn = (title: string): string => title.slice(1, title.indexOf("]"));
const OWN: readonly string[] = CLAUSES.filter(({ section }) => section === "NATS").map(({ id }) => id);
const WRONG = WRONG_NATS_SERVICES.filter(({ clause }) => OWN.includes(clause));

let outcomeOf: Awaited<ReturnType<typeof tryOverNats>>;
beforeAll(async () => {
  outcomeOf = await tryOverNats([...RIGHT_NATS_SERVICES, ...WRONG]);
}, 300_000);

describe("a right service", () => {
  test.each([
    ["leased, one step", "one", "UTP-C19 UTP-C24 UTP-C25 UTP-C26 UTP-C27 UTP-C28 UTP-C29 UTP-C48"],
    ["leased, two steps", "two", "UTP-C19"],
    ["plain", "two", "UTP-C05 UTP-C19 UTP-C23 UTP-C33 UTP-C34 UTP-C36 UTP-C37 UTP-C38 UTP-C39 UTP-C41 UTP-C43"],
  ])("[API-conform-nats] %s fails nothing, and what it does not do is not held against it", (name, steps, apart) => {
    const { code, report } = outcomeOf(RIGHT_NATS_SERVICES.find((service) => service.name === name));
    expect(faultsIn(report)).toEqual([]);
    expect([code, report.transport, report.steps]).toEqual([0, "nats", steps]);
    const unjudged = report.clauses.filter(({ verdict }) => verdict === "not-applicable").map(({ id }) => id);
    expect(unjudged.join(" ")).toBe(apart);
    expect(report.clauses.map(({ id }) => id)).toEqual(CLAUSES.map(({ id }) => id).filter((id) => id !== "UTP-C01"));
  });
});

describe("a wrong service is seen", () => {
  test.each(SEEN)("%s", (title) => {
    const clause = clauseIn(title);
    const services = WRONG.filter((service) => service.clause === clause);
    expect(services.length).toBeGreaterThan(0);
    for (const service of services) {
      const { code, report } = outcomeOf(service);
      expect.soft(failedIn(report), `${service.name}\n${faultsIn(report).join("\n")}`).toEqual([clause]);
      expect.soft(code, service.name).toBe(1);
    }
  });

  test("for every clause of NATS", () => {
    expect(SEEN.map(clauseIn)).toEqual(OWN);
  });
});
