import { describe, expect, test } from "vitest";
import { type Corpus, checksText, findUnshown, planChecks } from "./check-table.ts";
import { CORPUS } from "./corpus.ts";

describe("the table of checks", () => {
  test("[REPO-checks] every check that names a clause is under a point, and is failed by something wrong over HTTP, NATS or as a host", () => {
    expect(findUnshown(CORPUS)).toEqual([]);
    expect([...new Set(planChecks(CORPUS).map(({ point }) => point))]).toEqual([1, 2, 3, 5]);
  });

  test("a check without a wrong service, without a clause or without a point is told", () => {
    const title = "It is so";
    const corpus: Corpus = {
      conform: [
        { id: "UTP-C08", title, section: "guide 1", utp: "2.3" },
        { id: "UTP-C44", title, section: "NATS" },
        { id: "UTP-C99", title, section: "guide 1", utp: "9.9" },
      ],
      hostCheck: [{ id: "HOST-C30", title, section: "wire", utp: "6.5" }],
      overHttp: [{ clause: "UTP-C08", name: "a" }],
      overNats: [{ clause: "UTP-C44", name: "b" }],
      hosts: [],
    };
    expect(findUnshown(corpus)).toEqual([
      "UTP-C99 stands under no point",
      "UTP-C44 names no clause",
      "UTP-C08 has no wrong one at NATS",
      "HOST-C30 has no wrong one at host",
    ]);
    expect(checksText(planChecks(corpus))).toContain("| 1 identity | 2.3 | UTP-C08 | It is so | a |  |  |");
  });
});
