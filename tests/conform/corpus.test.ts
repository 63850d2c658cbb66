// The conformance kit against services that keep every clause and services that break exactly one. A clause nobody can
// break would be no clause: each has its wrong service, and each wrong service fails its clause and no other.

import { ToolplaneError } from "@toolplane/protocol";
import { CLAUSES } from "@toolplane/server/internal";
import { type NamedService, RIGHT_SERVICES, WRONG_SERVICES } from "@toolplane/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { type ConformReport, failedIn, faultsIn, launchPlain, reportOn } from "./conform-run.ts";

/** Only a report of its own makes these clauses apply. */
const TWO_STEP_CLAUSES = ["UTP-C24", "UTP-C25", "UTP-C26", "UTP-C27", "UTP-C28", "UTP-C29", "UTP-C48"];

const SEEN: readonly string[] = [
  "[UTP-C01] a token that is not sent as a bearer token",
  "[UTP-C02] a request that is not a tool service's business",
  "[UTP-C03] a definition external tools may not have",
  "[UTP-C04] a claimed call that is forgotten, or a claim nobody could answer",
  "[UTP-C05] a service that ends when a claim fails",
  "[UTP-C06] arguments that are not the card's",
  "[UTP-C07] inline data that is let pass",
  "[UTP-C08] identity in the payload that is let pass",
  "[UTP-C09] a result sent to another call than the headers'",
  "[UTP-C10] a command without a call id that is run, or ends the service",
  "[UTP-C11] a command without a card id that is run",
  "[UTP-C12] an unknown field that is refused",
  "[UTP-C13] a payload that is not an object and is run, or ends the service",
  "[UTP-C14] a missing card that is run",
  "[UTP-C15] a card of another type that is run",
  "[UTP-C16] a card of another call that is run",
  "[UTP-C17] content that is not a call and is run",
  "[UTP-C18] an after_execution that is not the command's",
  "[UTP-C19] an override in the wrong place, or of a word that is none",
  "[UTP-C20] a status that is none of the five",
  "[UTP-C21] a failure without an error",
  "[UTP-C22] a result without a span of its own in the command's trace",
  "[UTP-C23] a result without its lease",
  "[UTP-C24] a report of a card that is not there",
  "[UTP-C25] a result card with other content",
  "[UTP-C26] lineage that is not the call's",
  "[UTP-C27] an author that is not the tool's actor",
  "[UTP-C28] a function name that is not the tool's",
  "[UTP-C29] a callback that carries the result or an identity",
  "[UTP-C30] a second result of a command that came again",
  "[UTP-C31] two results of a command that came twice at once",
  "[UTP-C32] a late result that is sent again and again",
  "[UTP-C33] a lost lease that is not let go",
  "[UTP-C34] a canceled call that is answered",
  "[UTP-C35] a result that is lost to a server's short trouble",
  "[UTP-C45] a command without tool_name or a valid after_execution that is run",
  "[UTP-C46] a command that is run although its epoch, depth or trace cannot be read",
  "[UTP-C47] a header about the call that is not the command's",
  "[UTP-C48] a result card of its own that is reported although there is one",
  "[UTP-C49] a call of another channel that is reported in public",
];

/** Those over NATS have a corpus of their own. */
const HTTP_CLAUSES = CLAUSES.filter(({ section }) => section !== "NATS");

const clauseIn = (title: string): string => title.slice(1, title.indexOf("]"));

/** Most of a run is waiting, so many go at the same time. */
const AT_ONCE = 12;

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

beforeAll(async () => {
  const queue = [...RIGHT_SERVICES, ...WRONG_SERVICES];
  const work = async (): Promise<void> => {
    for (let service = queue.shift(); service !== undefined; service = queue.shift())
      outcomes.set(service, await reportOn(launchPlain(service)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}, 300_000);

describe("a right service", () => {
  test.each(RIGHT_SERVICES.map((service) => [service.name, service] as const))(
    "[API-2-11] %s fails nothing",
    (_name, service) => {
      const { code, report } = outcomeOf(service);
      expect(faultsIn(report)).toEqual([]);
      expect(code).toBe(0);
      expect(report.clauses.map(({ id }) => id)).toEqual(HTTP_CLAUSES.map(({ id }) => id));
    },
  );

  test.each([
    ["one step", "one", ["UTP-C19", ...TWO_STEP_CLAUSES]],
    ["two steps", "two", ["UTP-C19"]],
    ["overrides after_execution in its place", "two", []],
  ])("%s: what a service does not do itself is not held against it", (name, steps, apart) => {
    const { report } = outcomeOf(RIGHT_SERVICES.find((service) => service.name === name));
    expect(report.steps).toBe(steps);
    const unjudged = report.clauses.filter(({ verdict }) => verdict === "not-applicable");
    expect(unjudged.map(({ id }) => id)).toEqual(apart);
    expect(report.summary).toEqual({
      pass: HTTP_CLAUSES.length - apart.length,
      fail: 0,
      not_applicable: apart.length,
    });
  });
});

describe("a wrong service is seen", () => {
  test.each(SEEN)("%s", (title) => {
    const clause = clauseIn(title);
    const services = WRONG_SERVICES.filter((service) => service.clause === clause);
    expect(services.length).toBeGreaterThan(0);
    for (const service of services) {
      const { code, report } = outcomeOf(service);
      expect.soft(failedIn(report), `${service.name}\n${faultsIn(report).join("\n")}`).toEqual([clause]);
      expect.soft(code, service.name).toBe(1);
    }
  });

  test("for every clause, and for no clause that does not exist", () => {
    const listed = HTTP_CLAUSES.map(({ id }) => id as string);
    expect(SEEN.map(clauseIn)).toEqual(listed);
    expect(WRONG_SERVICES.filter(({ clause }) => !listed.includes(clause))).toEqual([]);
  });
});
