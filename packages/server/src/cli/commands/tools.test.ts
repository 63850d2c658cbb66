import { describe, expect, test } from "vitest";
import { createFakeTerminal, type FakeAnswer } from "../../../test/cli/fake-terminal.ts";

const tool = { tool_name: "pay", version: 2, status: "active", options: {} };
const pending = {
  version: 3,
  weakens: ["options.approval"],
  changes: [{ field: "options.approval", from: "required", to: null }],
};

const terminalWith = (get: FakeAnswer, post: FakeAnswer = {}) =>
  createFakeTerminal({
    answer: (method) => (method === "GET" ? get : post),
    files: { "pay.yaml": "a: 1", "/somewhere/pay.yaml": "a: 1" },
  });

describe("toolplane tools accept", () => {
  test("[API-2-K7] --version names the version to accept, and does not print the program's", async () => {
    const terminal = terminalWith({}, { body: { ...tool, version: 3 } });
    expect(await terminal.run("tools", "accept", "pay", "--version", "3")).toBe(0);
    const [made] = terminal.requests;
    expect([made?.method, JSON.parse(String(made?.body))]).toEqual(["POST", { version: 3 }]);
    expect(terminal.out()).toContain("accepted pay version 3\n");
  });

  test.each(["abc", "0", "1.5", ""])("[API-2-K5] --version %j is wrong usage, and nothing is sent", async (given) => {
    const terminal = terminalWith({ body: tool });
    expect(await terminal.run("tools", "accept", "pay", `--version=${given}`)).toBe(2);
    expect(terminal.err()).toContain(`--version takes the number of a version, not "${given}"`);
    expect(terminal.requests).toEqual([]);
  });

  test("[SEC-guard-5] without a version the server decides, and the change that was accepted is shown", async () => {
    const terminal = terminalWith({}, { body: { ...tool, version: 3, accepted: pending } });
    expect(await terminal.run("tools", "accept", "pay")).toBe(0);
    expect(terminal.requests.map(({ body }) => JSON.parse(String(body)))).toEqual([{}]);
    expect(terminal.out()).toMatch(
      /^accepted pay version 3\nFIELD +BEFORE +ACCEPTED *\noptions.approval +"required" +- +weakens\n$/,
    );
  });

  test("[SEC-guard-11] a person who accepts a service without leases is told that the pin ends", async () => {
    const unpinned = { ...pending, weakens: ["options.pin", "options.service"], changes: [] };
    const options = { service: "plain" };
    const terminal = terminalWith({}, { body: { ...tool, options, version: 3, accepted: unpinned } });
    expect(await terminal.run("tools", "accept", "pay")).toBe(0);
    expect(terminal.err()).toContain("calls of pay are no longer pinned to the version they were made under");
  });
});

test("tools show asks for a deleted tool too, by the question a tool's token may put", async () => {
  const terminal = terminalWith({ body: { ...tool, status: "deleted", deleted_by: "ann", pending } });
  expect(await terminal.run("tools", "show", "pay")).toBe(0);
  expect(terminal.requests[0]?.url).toBe("http://127.0.0.1:7420/projects/demo/tools/pay?pending=true");
  expect(terminal.out()).toContain("version 3 waits: ann deleted pay, accepting brings it back\n");
});

describe("what waits", () => {
  test("[API-2-K7] a first version is called so: there is nothing that it could change", async () => {
    const first = { version: 1, weakens: [], changes: [] };
    const terminal = terminalWith(
      { body: { ...tool, version: 1, status: "pending", pending: first } },
      { body: { ...tool, version: 1, accepted: first } },
    );
    await terminal.run("tools", "show", "pay");
    await terminal.run("tools", "accept", "pay");
    expect(terminal.out()).toMatch(
      /version 1 waits to be accepted\nit is the first version\naccepted pay version 1\nit is the first version\n$/,
    );
  });

  test.each(["show", "versions"])("tools %s says nothing of it when nothing waits", async (verb) => {
    const terminal = terminalWith({ body: { ...tool, items: [], pending: null } }, { body: tool });
    expect(await terminal.run("tools", verb, "pay")).toBe(0);
    expect(terminal.out()).not.toMatch(/waits|changes nothing/);
  });

  test("tools apply says which version waits, why, what stays in force and how it is accepted", async () => {
    const terminal = terminalWith({}, { status: 202, body: { ...tool, outcome: "pending", pending } });
    expect(await terminal.run("tools", "apply", "pay.yaml")).toBe(0);
    expect(terminal.out()).toBe(
      "pay version 3 waits for an operator (it weakens options.approval); version 2 stays in force; accept it with: toolplane tools accept pay --version 3\n",
    );
  });

  test("tools apply shows what the plane warns of", async () => {
    const warnings = ["this plane has no NATS"];
    const terminal = terminalWith({}, { status: 201, body: { ...tool, outcome: "created", warnings } });
    expect(await terminal.run("tools", "apply", "pay.yaml")).toBe(0);
    expect(terminal.err()).toBe("toolplane: this plane has no NATS\n");
  });

  test("tools apply of a tool that a person deleted says so", async () => {
    const body = {
      ...tool,
      status: "deleted",
      deleted_by: "ann",
      outcome: "pending",
      pending: { ...pending, weakens: [] },
    };
    const terminal = terminalWith({}, { status: 202, body });
    expect(await terminal.run("tools", "apply", "pay.yaml")).toBe(0);
    expect(terminal.out()).toBe(
      "pay version 3 waits for an operator (ann deleted the tool); no version is in force; accept it with: toolplane tools accept pay --version 3\n",
    );
  });
});
