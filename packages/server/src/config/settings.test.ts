import { describe, expect, test } from "vitest";
import type { UpOptions } from "../up/up-options.ts";
import { parseConfigFile } from "./config-file.ts";
import { planSettings, type Settings } from "./settings.ts";

interface Given {
  readonly yaml?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: UpOptions;
}

const plan = ({ yaml, env = {}, flags = {} }: Given): Settings =>
  planSettings({
    flags,
    env,
    cwd: "/srv/ann",
    file: yaml === undefined ? undefined : { ...parseConfigFile(yaml, "toolplane.yaml"), directory: "/etc/tp" },
  });

test("[SEC-16-U1] [SEC-16-G1] without configuration: loopback only, the embedded database, no variable for anybody, no local address to ask", () => {
  expect(plan({})).toEqual({
    port: 7420,
    host: "127.0.0.1",
    allowedHosts: [],
    data: "/srv/ann/.toolplane",
    databaseUrl: undefined,
    migrationDatabaseUrl: undefined,
    bus: undefined,
    roles: ["api", "worker", "pmo", "tools"],
    demo: false,
    ephemeral: false,
    project: "demo",
    projectNamed: false,
    tools: [],
    profiles: [],
    agents: [],
    workerTargets: ["worker_generic"],
    hosts: [],
    apis: [],
    mcpServers: [],
    envGrants: [],
    serviceEnvs: {},
    egressAllow: [],
    httpGetHosts: [],
    webhookHosts: [],
    webhookKey: undefined,
    metricsToken: undefined,
    leaseSeconds: undefined,
    retention: undefined,
    logLevel: "info",
  });
});

describe("[API-3-1] the file, then TOOLPLANE_* variables, then flags; later wins", () => {
  const DATABASE = "database: { url: env:DATABASE_URL }\n";
  const IN_FILE = "postgres://file/db";
  const IN_ENV = "postgres://env/db";

  test.each<[string, Given, Partial<Settings>]>([
    ["file", { yaml: DATABASE, env: { DATABASE_URL: IN_FILE } }, { databaseUrl: IN_FILE }],
    [
      "environment over file",
      { yaml: DATABASE, env: { DATABASE_URL: IN_FILE, TOOLPLANE_DATABASE_URL: IN_ENV } },
      { databaseUrl: IN_ENV },
    ],
    [
      "flag over environment",
      { env: { TOOLPLANE_DATABASE_URL: IN_ENV }, flags: { databaseUrl: "postgres://flag/db" } },
      { databaseUrl: "postgres://flag/db" },
    ],
    [
      "another login for migrations",
      {
        yaml: "database: { url: env:DATABASE_URL, migration_url: env:OWNER_URL }\n",
        env: { DATABASE_URL: IN_FILE, OWNER_URL: IN_FILE, TOOLPLANE_MIGRATION_DATABASE_URL: IN_ENV },
      },
      { databaseUrl: IN_FILE, migrationDatabaseUrl: IN_ENV },
    ],
    [
      "agents, each with its place",
      { yaml: "project: a\nagents:\n  - agent_id: x\n  - agent_id: y\n" },
      {
        agents: [
          { where: "toolplane.yaml:3: agents[0]", value: { agent_id: "x" } },
          { where: "toolplane.yaml:4: agents[1]", value: { agent_id: "y" } },
        ],
      },
    ],
    ["project in the file", { yaml: "project: a\n" }, { project: "a", projectNamed: true }],
    ["project in the environment", { yaml: "project: a\n", env: { TOOLPLANE_PROJECT: "b" } }, { project: "b" }],
    ["port", { env: { TOOLPLANE_PORT: "1" } }, { port: 1 }],
    ["a process without the API takes any free port", { flags: { roles: ["worker", "tools"] } }, { port: 0 }],
    ["unless one is named", { env: { TOOLPLANE_PORT: "1" }, flags: { roles: ["tools"] } }, { port: 1 }],
    ["port by flag", { env: { TOOLPLANE_PORT: "1" }, flags: { port: 0 } }, { port: 0 }],
    ["host", { env: { TOOLPLANE_HOST: "::1" }, flags: { host: "0.0.0.0" } }, { host: "0.0.0.0" }],
    [
      "names",
      { env: { TOOLPLANE_ALLOWED_HOSTS: "tools.example.com, Plane" } },
      { allowedHosts: ["tools.example.com", "plane"] },
    ],
    ["patience", { env: { TOOLPLANE_LEASE_SECONDS: "5" } }, { leaseSeconds: 5 }],
    ["data", { env: { TOOLPLANE_DATA: "there" } }, { data: "/srv/ann/there" }],
    ["roles", { env: { TOOLPLANE_ROLES: "tools" } }, { roles: ["tools"] }],
    [
      "roles by flag",
      { env: { TOOLPLANE_ROLES: "tools" }, flags: { roles: ["api", " tools"] } },
      { roles: ["api", "tools"] },
    ],
    ["pools in the file", { yaml: "worker_targets: [crew, night]\n" }, { workerTargets: ["crew", "night"] }],
    [
      "pools in the environment",
      { env: { TOOLPLANE_WORKER_TARGETS: "crew, night" } },
      { workerTargets: ["crew", "night"] },
    ],
    [
      "[SEC-7-G1] a variable by its plain name is for the project of the file",
      { yaml: "project: a\nsecrets: { allow_env: [KEY] }\n" },
      { envGrants: [{ name: "KEY", projects: ["a"], hosts: "any" }] },
    ],
    [
      "[SEC-7-G2] a variable for projects and hosts",
      {
        yaml: "secrets: { allow_env: [{ name: KEY, projects: [b, c], hosts: [API.example.com., '*.example.org'] }] }\n",
      },
      { envGrants: [{ name: "KEY", projects: ["b", "c"], hosts: ["api.example.com", "*.example.org"] }] },
    ],
    [
      "an address to allow",
      { yaml: "egress: { allow: ['http://127.0.0.1:11434'] }\n" },
      { egressAllow: [{ protocol: "http:", host: "127.0.0.1", port: 11434 }] },
    ],
    [
      "addresses of the environment in place of the file's",
      {
        yaml: "egress: { allow: ['http://127.0.0.1:1'] }\n",
        env: { TOOLPLANE_EGRESS_ALLOW: "http://localhost:2, https://models.internal," },
      },
      {
        egressAllow: [
          { protocol: "http:", host: "localhost", port: 2 },
          { protocol: "https:", host: "models.internal", port: 443 },
        ],
      },
    ],
    [
      "a variable of a host that nobody bound",
      { yaml: "secrets: { allow_env: [A] }\nhosts: [{ name: t, command: [x], env: [A, B] }]\n" },
      { envGrants: [{ name: "A", projects: ["demo"], hosts: "any" }] },
    ],
    ["demo", { env: { TOOLPLANE_DEMO: "true" } }, { demo: true }],
    ["demo by flag", { env: { TOOLPLANE_DEMO: "true" }, flags: { demo: false } }, { demo: false }],
    ["a blank variable is none", { env: { TOOLPLANE_PORT: " ", TOOLPLANE_DATA: "" } }, { port: 7420 }],
    [
      "patterns start at the file",
      { yaml: "tools: [./t/*.yaml, /abs/x.yaml]\n" },
      { tools: ["/etc/tp/t/*.yaml", "/abs/x.yaml"] },
    ],
  ])("%s", (_what, given, expected) => {
    expect(plan(given)).toMatchObject(expected);
  });
});

describe("[UP-3-3] MCP servers are checked before anything is started", () => {
  const server = (entry: string, more = "") => ({ yaml: `project: a\nmcp_servers:\n  - { ${entry} }\n${more}` });
  const KEYS = "secrets: { allow_env: [TOKEN, { name: FAR, hosts: [mcp.example.com] }] }\n";

  test.each<[string, Given, string]>([
    ["neither program nor address", server("name: a"), "either a command or a url"],
    ["both", server("name: a, command: [x], url: https://x.example"), "either a command or a url"],
    ["a name with a dot", server("name: a.b, command: [x]"), "a server's name has"],
    ["a variable that is not allowed", server("name: a, command: [x], env: [OTHER]", KEYS), "OTHER may not be used"],
    ["headers for a program", server("name: a, command: [x], headers: { A: b }"), "a program has no headers"],
    ["a password in the address", server("name: a, url: https://u:p@x.example"), "must not hold a user or a password"],
    ["another scheme", server("name: a, url: file:///etc/passwd"), "it looks like https"],
    [
      "a variable for another host",
      server("name: a, url: https://evil.example/mcp, headers: { Authorization: env:FAR }", KEYS),
      "may not be sent to evil.example",
    ],
    ["a header of ours", server("name: a, url: https://x.example, headers: { Mcp-Session-Id: a }"), "cannot be set"],
    ["two of one name", server("name: a, command: [x] }\n  - { name: a, command: [y]"), "two MCP servers are named a"],
  ])("%s", (_what, given, message) => {
    expect(() => plan(given)).toThrow(message);
  });

  test("and read with what their entries say", () => {
    const url = "name: r, url: https://mcp.example.com/mcp, headers: { Authorization: env:FAR }";
    expect(plan(server(`${url}, tools: [read_*], trust_hints: true, elicitation: defaults`, KEYS)).mcpServers).toEqual([
      {
        name: "r",
        place: { url: "https://mcp.example.com/mcp", headers: { Authorization: "env:FAR" } },
        tools: ["read_*"],
        trustHints: true,
        prefix: undefined,
        timeoutSeconds: undefined,
        elicitation: "defaults",
      },
    ]);
    expect(plan(server("name: a, command: [x]")).mcpServers).toMatchObject([{ elicitation: "refuse" }]);
    expect(plan({ yaml: "hosts: []\nmcp_servers: []\nopenapi: []\nbus: {}\n" })).toMatchObject({
      hosts: [],
      mcpServers: [],
      bus: undefined,
    });
  });
});

describe("values that cannot be", () => {
  test.each<[string, Given, string]>([
    ["a port", { env: { TOOLPLANE_PORT: "70000" } }, "a port is a whole number from 0 to 65535"],
    ["a role", { flags: { roles: ["king"] } }, "there is no role king"],
    ["no role", { flags: { roles: [""] } }, "name at least one role"],
    ["a switch", { env: { TOOLPLANE_DEMO: "yes please" } }, "TOOLPLANE_DEMO is true or false"],
    ["no patience", { env: { TOOLPLANE_LEASE_SECONDS: "0" } }, "TOOLPLANE_LEASE_SECONDS is from 3 to 600"],
    ["odd patience", { env: { TOOLPLANE_LEASE_SECONDS: "a while" } }, "TOOLPLANE_LEASE_SECONDS is from 3 to 600"],
    ["any name at all", { env: { TOOLPLANE_ALLOWED_HOSTS: "*" } }, "TOOLPLANE_ALLOWED_HOSTS is a list of host names"],
    [
      "a log level",
      { env: { TOOLPLANE_LOG_LEVEL: "loud" } },
      "TOOLPLANE_LOG_LEVEL is one of error, warn, info, silent, not loud",
    ],
    ["a project", { yaml: "project: a.b\n" }, "a project's name is made of"],
    [
      "[UP-3-4] a variable that is not set",
      { yaml: "project: a\ndatabase:\n  url: env:NOT_THERE\n" },
      "toolplane.yaml:3: database.url: the variable NOT_THERE is not set",
    ],
    ["a variable that is none", { yaml: "database: { url: 'env:A B' }\n" }, "is not the name of a variable"],
    [
      "a URL for migrations alone",
      { env: { TOOLPLANE_MIGRATION_DATABASE_URL: "postgres://me:hunter2@x/y" } },
      "give --database-url too",
    ],
    ["both databases", { flags: { ephemeral: true, databaseUrl: "postgres://x/y" } }, "choose one of them"],
    [
      "[SEC-7-U1] a variable of the system for tools",
      { yaml: "secrets: { allow_env: [DATABASE_URL] }\n" },
      "DATABASE_URL belongs to the system",
    ],
    [
      "[UTP-9-7] a variable of the service's configuration that no project may use",
      { yaml: "secrets:\n  allow_env: [A]\n  envs:\n    openapi: { api_key: B }\n" },
      "toolplane.yaml:4: secrets.envs: the variable B is not in secrets.allow_env",
    ],
    [
      "[SEC-7-G2] a variable for one host in a program",
      {
        yaml: "secrets: { allow_env: [{ name: A, hosts: [a.example] }] }\nhosts:\n  - name: t\n    command: [x]\n    env: [A]\n",
      },
      "toolplane.yaml:5: A is bound to hosts, and a program may send it anywhere; remove hosts from its entry in secrets.allow_env, or A from env of host t",
    ],
    [
      "[SEC-7-G1] a variable of another project in a program",
      { yaml: "secrets: { allow_env: [{ name: A, projects: [b] }] }\nhosts: [{ name: t, command: [x], env: [A] }]\n" },
      "toolplane.yaml:2: env of host t: the variable A may not be used by project demo",
    ],
    [
      "a variable for no project",
      { yaml: "secrets: { allow_env: [{ name: A, projects: [] }] }\n" },
      "toolplane.yaml:1: secrets.allow_env[0].projects: ",
    ],
    [
      "a variable for what is not a project",
      { yaml: "secrets: { allow_env: [{ name: A, projects: ['*'] }] }\n" },
      '"*" is not the name of a project, in the projects of A',
    ],
    [
      "a variable for what is not a host",
      { yaml: "secrets: { allow_env: [{ name: A, hosts: ['*'] }] }\n" },
      '"*" is not the name of a host, such as api.example.com or *.example.com, in the hosts of A',
    ],
    [
      "no address to allow",
      { yaml: "egress:\n  allow:\n    - 127.0.0.1\n" },
      "toolplane.yaml:3: egress.allow: an address to allow looks like http://127.0.0.1:11434",
    ],
    [
      "a metadata service to allow",
      { env: { TOOLPLANE_EGRESS_ALLOW: "http://169.254.169.254" } },
      "TOOLPLANE_EGRESS_ALLOW: 169.254.169.254 is the address of a metadata service and cannot be allowed",
    ],
    ["a variable with a blank", { yaml: "secrets:\n  allow_env:\n    - A B\n" }, "toolplane.yaml:3: secrets.allow_env"],
  ])("%s", (_what, given, message) => {
    expect(() => plan(given)).toThrow(message);
  });

  test("a database URL is never shown", () => {
    expect(() => plan({ flags: { databaseUrl: "mysql://me:hunter2@x/y" } })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("hunter2") }),
    );
  });
});
