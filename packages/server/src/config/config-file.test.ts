import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { configSchema, parseConfigFile } from "./config-file.ts";

const FULL = `project: demo
database: { url: env:DATABASE_URL }
bus: { url: env:NATS_URL }
hosts:
  - { name: text, command: [node, ./text-host.ts], config: {}, pool: 2, env: [LANG], timeout_seconds: 30, retry_safe: ["*"], session: none }
mcp_servers:
  - { name: files, command: [npx, some-mcp-server], tools: [read_*], trust_hints: false }
openapi:
  - { name: petstore, spec: ./petstore.yaml, base_url: https://api.example.com, allow_hosts: [api.example.com], operations: [get*], auth_env: PETSTORE_TOKEN }
tools: [./tools/*.yaml]
profiles: [./profiles/*.yaml]
agents: [{ agent_id: helper, profile: assistant }]
secrets: { allow_env: [JINA_API_KEY, { name: PETSTORE_TOKEN, projects: [demo], hosts: [api.example.com] }] }
egress: { allow: ["http://127.0.0.1:11434"] }
retention: { days: 30, projects: { audit: forever } }
limits: { fork_join_tasks: 12 }
`;

test("[UP-3-2] every key of the configuration is known", () => {
  const { config, where } = parseConfigFile(FULL, "toolplane.yaml");
  expect(Object.keys(config)).toEqual([
    "project",
    "database",
    "bus",
    "hosts",
    "mcp_servers",
    "openapi",
    "tools",
    "profiles",
    "agents",
    "secrets",
    "egress",
    "retention",
    "limits",
  ]);
  expect(config.hosts?.[0]).toMatchObject({ name: "text", pool: 2, session: "none" });
  expect(where(["secrets", "allow_env", 1])).toBe("toolplane.yaml:13");
});

test("[LIM-ceiling-2] null takes a limit of the project away; groups of limits without a value are not given", () => {
  const limitsIn = (text: string): unknown => parseConfigFile(text, "toolplane.yaml").config.limits;
  expect(limitsIn("limits: { project: { concurrency: null, queue: 5, rate: null } }\n")).toEqual({
    project: { concurrency: null, queue: 5, rate: null },
  });
  expect(limitsIn("limits:\n  delegated_turns:\n  project:\n  plane:\n    open_calls:\n")).toEqual({ plane: {} });
});

test.each(["", "# nothing\n", "project:\n", "tools:\nsecrets:\n"])("%j: all of it is optional", (text) => {
  expect(parseConfigFile(text, "toolplane.yaml").config).toEqual({});
});

describe("[API-3-2] an unknown key is an error naming the key and its line", () => {
  test.each<[string, string, string]>([
    ["at the top", "project: demo\nprojct: x\n", 'toolplane.yaml:2: unknown key "projct"'],
    ["in a section", "project: demo\nsecrets:\n  allow: [A]\n", 'toolplane.yaml:3: unknown key "allow" in secrets'],
    [
      "in an item",
      "hosts:\n  - name: a\n    command: [x]\n  - name: b\n    command: [y]\n    comand: [z]\n",
      'toolplane.yaml:6: unknown key "comand" in hosts[1]',
    ],
    ["in the limits", "limits:\n  fork_join_tasks: 4\n  queue: 9\n", 'toolplane.yaml:3: unknown key "queue" in limits'],
    [
      "a breaker of the project, which is one for each target",
      "limits:\n  project:\n    breaker: { failure_rate: 0.5, window_seconds: 60, open_seconds: 30 }\n",
      'toolplane.yaml:3: unknown key "breaker" in limits.project; did you mean target_breaker?',
    ],
    ["beside another fault", "project: 1\nx: 2\n", 'toolplane.yaml:2: unknown key "x"'],
  ])("%s", (_what, text, message) => {
    expect(() => parseConfigFile(text, "toolplane.yaml")).toThrow(message);
  });
});

test.each<[string, string, string]>([
  ["a list that is a text", "tools: ./tools\n", "toolplane.yaml:1: tools: "],
  ["a project that is a number", "\nproject: 7\n", "toolplane.yaml:2: project: "],
  ["a host without a command", "hosts:\n  - name: a\n", "toolplane.yaml:2: hosts[0].command: missing, expected array"],
  [
    "a session nobody knows",
    "hosts:\n  - name: a\n    command: [x]\n    session: maybe\n",
    "toolplane.yaml:4: hosts[0].session: ",
  ],
  ["a limit of nothing", "limits:\n  fork_join_tasks: 0\n", "toolplane.yaml:2: limits.fork_join_tasks: "],
  [
    "[LIM-bounds] a limit of 1e308",
    "limits:\n  project:\n    queue: 1e308\n",
    "toolplane.yaml:3: limits.project.queue: expected at most 1000000",
  ],
  [
    "[LIM-bounds] a limit of 1e309",
    "limits:\n  project:\n    queue: 1e309\n",
    "toolplane.yaml:3: limits.project.queue: expected at most 1000000",
  ],
  [
    "[LIM-bounds] a limit of .inf",
    "limits:\n  project:\n    concurrency: .inf\n",
    "toolplane.yaml:3: limits.project.concurrency: expected at most 10000",
  ],
  [
    "[LIM-bounds] a limit of -.inf",
    "limits:\n  project:\n    concurrency: -.inf\n",
    "toolplane.yaml:3: limits.project.concurrency: expected at least 1",
  ],
  [
    "[LIM-bounds] a limit of 10001",
    "limits:\n  project:\n    concurrency: 10001\n",
    "toolplane.yaml:3: limits.project.concurrency: expected at most 10000",
  ],
  ["a text", "just words\n", "toolplane.yaml:1: the file: "],
])("%s is refused with its line", (_what, text, message) => {
  expect(() => parseConfigFile(text, "toolplane.yaml")).toThrow(message);
});

/** `bus.url`; a list and what stands in it has one name. */
const namesOf = (schema: z.ZodType, path: string): readonly string[] => {
  if (schema instanceof z.ZodOptional) return namesOf(schema.unwrap() as z.ZodType, path);
  if (!(schema instanceof z.ZodObject)) return [path];
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, value]) =>
    namesOf(value, path === "" ? key : `${path}.${key}`),
  );
};

describe("the reference", () => {
  const page = readFileSync(new URL("../../../../docs/reference/configuration.md", import.meta.url), "utf8");

  test.each(namesOf(configSchema, ""))("[UP-3-2] has the key %s", (name) => {
    expect(page).toContain(`\`${name}\``);
  });

  test("[UP-3-2] has every variable that settings are read from", () => {
    const sources = readdirSync(new URL(".", import.meta.url)).filter(
      (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
    );
    const text = sources.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("\n");
    const variables = [...new Set([...text.matchAll(/env\.(TOOLPLANE_[A-Z_]+)/g)].map(([, name]) => name))];
    expect(variables.length).toBeGreaterThan(8);
    expect(variables.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
