// The conformance kit over NATS, against services that keep every clause and services that break exactly one.

import { ToolplaneError } from "@toolplane/protocol";
import { CLAUSES } from "@toolplane/server";
import { type NamedService, RIGHT_NATS_SERVICES, WRONG_NATS_SERVICES } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConformReport, failedIn, faultsIn, launchPlain, reportOn } from "./conform-run.ts";
import { type NatsAccounts, startNatsAccounts } from "./nats-accounts.ts";

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
  "over NATS too: UTP-C02",
  "over NATS too: UTP-C05",
  "over NATS too: UTP-C09",
  "over NATS too: UTP-C10",
  "over NATS too: UTP-C13",
  "over NATS too: UTP-C18",
  "over NATS too: UTP-C23",
  "over NATS too: UTP-C24",
  "over NATS too: UTP-C29",
  "over NATS too: UTP-C30",
  "over NATS too: UTP-C34",
];

const clauseIn = (title: string): string => /UTP-C\d\d/.exec(title)?.[0] ?? "";

/** Most of a run is waiting, so many go at the same time. */
const AT_ONCE = 14;
/** The services renew after a quarter of it. */
const LEASE_MS = 500;

interface Outcome {
  readonly code: number;
  readonly report: ConformReport;
}

const outcomes = new Map<NamedService, Outcome>();

const outcomeOf = (service: NamedService | undefined): Outcome => {
  const outcome = service === undefined ? undefined : outcomes.get(service);
  if (outcome === undefined) throw new ToolplaneError("not_found", `${service?.name ?? "the service"} was not tried`);
  return outcome;
};

let nats: NatsAccounts;
beforeAll(async () => {
  const queue = [...RIGHT_NATS_SERVICES, ...WRONG_NATS_SERVICES];
  nats = await startNatsAccounts(queue.length);
  const work = async (): Promise<void> => {
    for (let service = queue.shift(); service !== undefined; service = queue.shift()) {
      const where = { http: false, natsUrl: nats.next(), leaseMs: LEASE_MS };
      outcomes.set(service, await reportOn({ ...launchPlain(service), ...where }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

describe("a right service", () => {
  test.each([
    ["leased, one step", "one", "UTP-C19 UTP-C24 UTP-C25 UTP-C26 UTP-C27 UTP-C28 UTP-C29"],
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
    const services = WRONG_NATS_SERVICES.filter((service) => service.clause === clause);
    expect(services.length).toBeGreaterThan(0);
    for (const service of services) {
      const { code, report } = outcomeOf(service);
      expect.soft(failedIn(report), `${service.name}\n${faultsIn(report).join("\n")}`).toEqual([clause]);
      expect.soft(code, service.name).toBe(1);
    }
  });

  test("for every clause of NATS, and for no clause that is not listed above", () => {
    const listed = SEEN.map(clauseIn);
    const own = CLAUSES.filter(({ section }) => section === "NATS").map(({ id }) => id as string);
    expect(listed.slice(0, own.length)).toEqual(own);
    expect(WRONG_NATS_SERVICES.filter(({ clause }) => !listed.includes(clause))).toEqual([]);
  });
});
