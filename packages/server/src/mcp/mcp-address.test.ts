import { describe, expect, test } from "vitest";
import { createToolFilter, parseAddress, refuseUnknownNames } from "./mcp-address.ts";

const parse = (query: string) => parseAddress(new URLSearchParams(query));

describe("the tools that an address asks for", () => {
  test.each([
    ["", "anything", true],
    ["tools=read_*", "read_file", true],
    ["tools=read_*", "write_file", false],
    ["tools=a, b", "b", true],
    ["tools=a&tools=b", "b", true],
    ["tools=*", "any-thing_1", true],
  ])("%j and %s", (query, name, wanted) => {
    expect(createToolFilter(parse(query).tools)(name)).toBe(wanted);
  });

  test.each([
    ["tools=", /\?tools= names nothing/],
    ["agents=,", /\?agents= names nothing/],
    ["tools=a.b", /"?a\.b"? cannot be a name/],
    ["agents=h*", /cannot be a name/],
  ])("%j is refused", (query, words) => {
    expect(() => parse(query)).toThrow(words);
  });
});

test("a name that the project does not have is refused by name; a pattern may match nothing", async () => {
  const registry = {
    definitions: { resolve: async (asked: readonly { toolName: string }[]) => asked.map(() => undefined) },
    tools: {
      findTool: async (_: string, name: string) => (name === "waiting" ? { status: "pending" } : undefined),
      toolNames: async () => [{ toolName: "echo", status: "active" }],
    },
    agents: {
      getAgent: async () => undefined,
      listAgents: async () => ({ items: [{ agentId: "helper" }], nextCursor: null }),
    },
  } as unknown as Parameters<typeof refuseUnknownNames>[0];
  const check = (query: string) => refuseUnknownNames(registry, "demo", parse(query));
  await check("tools=zzz*,waiting");
  await expect(check("tools=ecoh")).rejects.toThrow(
    "?tools= names ecoh, and project demo has no such tool; did you mean echo?",
  );
  await expect(check("agents=nobody")).rejects.toThrow("?agents= names nobody, and project demo has no such agent");
});
