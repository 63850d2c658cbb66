import { describe, expect, test } from "vitest";
import { parseConfigFile } from "../config/config-file.ts";
import { hostSecrets, readHostSettings } from "./host-settings.ts";

const read = (yaml: string) => readHostSettings({ ...parseConfigFile(yaml, "toolplane.yaml"), directory: "/etc/tp" });

test("[API-3-H1] an entry with everything", () => {
  const yaml = `hosts:
  - name: text
    command: [node, ./text-host.ts]
    config: { greeting: hi }
    pool: 2
    env: [LANG, KEY]
    timeout_seconds: 5
    retry_safe: ["*"]
    session: agent
    prefix: ""
    control: allow
    sandbox: { read: [.], write: [./out], child_process: false }
    limits: { in_flight: 8, hello_ms: 3000 }
`;
  expect(read(yaml)).toEqual([
    {
      name: "text",
      target: "host_text",
      prefix: "",
      timeoutSeconds: 5,
      session: "agent",
      control: "allow",
      options: {
        name: "text",
        command: ["node", "./text-host.ts"],
        cwd: "/etc/tp",
        ownUser: true,
        config: { greeting: "hi" },
        env: ["LANG", "KEY"],
        retrySafe: ["*"],
        limits: { pool: 2, inFlight: 8, helloMs: 3_000, callMs: 5_000 },
        sandbox: { read: ["."], write: ["./out"], childProcess: false },
      },
    },
  ]);
});

test("[API-3-H1] an entry with nothing but a name and a command has no session and passes nothing on", () => {
  expect(read("hosts: [{ name: a, command: [x] }]")).toEqual([
    {
      name: "a",
      target: "host_a",
      prefix: undefined,
      timeoutSeconds: undefined,
      session: "none",
      control: "strip",
      options: { name: "a", command: ["x"], cwd: "/etc/tp", ownUser: true, limits: {} },
    },
  ]);
  expect(readHostSettings(undefined)).toEqual([]);
});

describe("[API-3-H2] what is wrong is refused with its place", () => {
  test.each([
    ["a name that is not a token", "hosts:\n  - { name: a.b, command: [x] }", "toolplane.yaml:2"],
    ["a long name", `hosts: [{ name: ${"x".repeat(41)}, command: [x] }]`, "1 to 40"],
    [
      "a name twice",
      "hosts:\n  - { name: a, command: [x] }\n  - { name: a, command: [y] }",
      "toolplane.yaml:3: hosts[1].name: two hosts",
    ],
    [
      "a prefix that is not a token",
      "hosts:\n  - { name: a, command: [x], prefix: 'x y' }",
      "hosts[0].prefix: a prefix",
    ],
    ["no command", "hosts: [{ name: a, command: [] }]", "command"],
    ["a shell line", "hosts: [{ name: a, command: node x }]", "command"],
    ["an unknown key", "hosts: [{ name: a, command: [x], shell: true }]", 'unknown key "shell"'],
    ["an unknown limit", "hosts: [{ name: a, command: [x], limits: { speed: 1 } }]", 'no limit "speed"'],
    ["the pool among the limits", "hosts: [{ name: a, command: [x], limits: { pool: 1 } }]", 'no limit "pool"'],
    ["a variable that is none", "hosts: [{ name: a, command: [x], env: [a-b] }]", "not the name of a variable"],
    ["the database's password", "hosts: [{ name: a, command: [x], env: [PGPASSWORD] }]", "belongs to the system"],
    ["our own token", "hosts: [{ name: a, command: [x], env: [TOOLPLANE_TOKEN] }]", "belongs to the system"],
    ["Node's own switches", "hosts: [{ name: a, command: [x], env: [NODE_OPTIONS] }]", "belongs to the system"],
    ["a user that is none", "hosts: [{ name: a, command: [x], user: bob }]", "user"],
    [
      "our own token in the config",
      "hosts: [{ name: a, command: [x], config: { t: env:TOOLPLANE_TOKEN } }]",
      "belongs to",
    ],
    ["no variable in the config", "hosts: [{ name: a, command: [x], config: { t: [env:a-b] } }]", "name of a variable"],
    ["a session that is none", "hosts: [{ name: a, command: [x], session: user }]", "session"],
  ])("%s", (_what, yaml, message) => {
    expect(() => read(yaml)).toThrow(message);
  });
});

test("[INV-I8-H1] the values of what a host is given are secrets, but for what everybody knows", () => {
  const [host] = read("hosts: [{ name: a, command: [x], env: [LANG, LC_ALL, KEY, EMPTY, UNSET] }]");
  const env = { LANG: "C", LC_ALL: "C", KEY: "abc123", EMPTY: " ", OTHER: "not given" };
  expect(host && [...hostSecrets(host, env)]).toEqual([["KEY", "abc123"]]);
});
