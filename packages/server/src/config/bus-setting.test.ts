import { describe, expect, test } from "vitest";
import type { UpOptions } from "../up/up-options.ts";
import { type BusSetting, planBus } from "./bus-setting.ts";
import { parseConfigFile } from "./config-file.ts";

interface Given {
  readonly yaml?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: UpOptions;
}

const plan = ({ yaml, env = {}, flags = {} }: Given): BusSetting | undefined =>
  planBus({
    flags,
    env,
    cwd: "/srv/ann",
    file: yaml === undefined ? undefined : { ...parseConfigFile(yaml, "toolplane.yaml"), directory: "/etc/tp" },
  });

const URL = "nats://127.0.0.1:4222";

describe("[UP-9-1] where NATS is: the file, then TOOLPLANE_*, then flags", () => {
  test.each<[string, Given, Partial<BusSetting> | undefined]>([
    ["nobody says", {}, undefined],
    ["an empty section", { yaml: "bus: {}\n" }, undefined],
    ["file", { yaml: `bus: { url: ${URL} }\n` }, { url: URL, credentials: undefined, replicas: undefined }],
    ["a variable of the file", { yaml: "bus: { url: env:NATS_URL }\n", env: { NATS_URL: URL } }, { url: URL }],
    [
      "environment over file",
      { yaml: "bus: { url: nats://file:1 }\n", env: { TOOLPLANE_NATS_URL: "nats://env:1" } },
      { url: "nats://env:1" },
    ],
    [
      "flag over environment",
      { env: { TOOLPLANE_NATS_URL: "nats://env:1" }, flags: { natsUrl: "tls://flag:1" } },
      { url: "tls://flag:1" },
    ],
    ["several", { flags: { natsUrl: "nats://a:1, nats://b:2 ,nats://c" } }, { url: "nats://a:1,nats://b:2,nats://c" }],
    ["a blank is none", { flags: { natsUrl: " " }, env: { TOOLPLANE_NATS_URL: "" } }, undefined],
    [
      "the rest of the section goes with a URL from elsewhere",
      { yaml: "bus: { credentials: ./plane.creds, replicas: 3 }\n", flags: { natsUrl: URL } },
      { url: URL, credentials: "/etc/tp/plane.creds", replicas: 3 },
    ],
    [
      "paths start at the file",
      { yaml: `bus: { url: ${URL}, ca: ca.pem, cert: /abs/cert.pem, key: env:KEY }\n`, env: { KEY: "key.pem" } },
      { ca: "/etc/tp/ca.pem", cert: "/abs/cert.pem", key: "/etc/tp/key.pem" },
    ],
    [
      "credentials and inbox of the environment",
      {
        yaml: `bus: { url: ${URL}, credentials: a, inbox_prefix: _a }\n`,
        env: { TOOLPLANE_NATS_CREDENTIALS: "b", TOOLPLANE_NATS_INBOX: "_INBOX.b" },
      },
      { credentials: "/srv/ann/b", inboxPrefix: "_INBOX.b" },
    ],
    [
      "a user and the file with its password",
      { flags: { natsUrl: "nats://engine@h:1" }, env: { TOOLPLANE_NATS_PASSWORD_FILE: "pw" } },
      { url: "nats://engine@h:1", passwordFile: "/srv/ann/pw" },
    ],
    [
      "the same in the file",
      { yaml: "bus: { url: nats://engine@h:1, password_file: pw }\n" },
      { passwordFile: "/etc/tp/pw" },
    ],
    ["a password in a variable", { env: { TOOLPLANE_NATS_URL: "nats://a:b@h:1" } }, { url: "nats://a:b@h:1" }],
    ["a number from a variable", { yaml: `bus: { url: ${URL}, replicas: env:N }\n`, env: { N: "3" } }, { replicas: 3 }],
  ])("%s", (_what, given, expected) => {
    const bus = plan(given);
    if (expected === undefined) expect(bus).toBeUndefined();
    else expect(bus).toMatchObject(expected);
  });
});

describe("[UP-9-2] what cannot be is one sentence, and never shows a URL", () => {
  test.each<[string, Given, string]>([
    ["another scheme", { flags: { natsUrl: "http://me:hunter2@x" } }, "--nats-url is not a NATS URL"],
    ["no URL", { env: { TOOLPLANE_NATS_URL: "hunter2" } }, "TOOLPLANE_NATS_URL is not a NATS URL"],
    ["one of several", { flags: { natsUrl: "nats://a,me:hunter2@b" } }, "--nats-url is not a NATS URL"],
    ["an empty one", { flags: { natsUrl: "nats://a," } }, "--nats-url is not a NATS URL"],
    ["two kinds", { flags: { natsUrl: "nats://a,tls://b" } }, "all nats:// or all tls://"],
    ["a path", { flags: { natsUrl: "nats://a/hunter2" } }, "--nats-url is not a NATS URL"],
    ["in the file", { yaml: "bus:\n  url: nats//hunter2\n" }, "toolplane.yaml:2: bus.url is not a NATS URL"],
    ["a variable", { yaml: "bus: { url: env:NOT_THERE }\n" }, "bus.url: the variable NOT_THERE is not set"],
    ["a password on the command line", { flags: { natsUrl: "nats://a:b@h:1" } }, "can read in the list of processes"],
    ["a token on the command line", { flags: { natsUrl: "nats://secret@h:1" } }, "TOOLPLANE_NATS_PASSWORD_FILE"],
    [
      "a name alone on the command line",
      { flags: { natsUrl: "nats://hunter2@h:1" } },
      "--nats-url: NAME@HOST alone is a token, which every user of this machine can read in the list of processes; if NAME is a user, name the file with its password in TOOLPLANE_NATS_PASSWORD_FILE",
    ],
    [
      "two passwords",
      { env: { TOOLPLANE_NATS_URL: "nats://a:hunter2@h:1", TOOLPLANE_NATS_PASSWORD_FILE: "pw" } },
      "the address of NATS holds a password, and a file with one is given too: keep one of them",
    ],
    ["a password of nobody", { flags: { natsUrl: URL }, env: { TOOLPLANE_NATS_PASSWORD_FILE: "pw" } }, "names no user"],
    ["no copies", { yaml: `bus: { url: ${URL}, replicas: 0 }\n` }, "bus.replicas is a whole number from 1 to 5"],
    ["many copies", { yaml: `bus: { url: ${URL}, replicas: many }\n` }, "bus.replicas is a whole number from 1 to 5"],
    ["half a pair", { yaml: `bus: { url: ${URL}, cert: a }\n` }, "bus.cert and bus.key come together"],
    ["nowhere", { yaml: "bus:\n  ca: a\n" }, "toolplane.yaml:2: bus.ca is about NATS, and nothing says where that is"],
    ["an inbox", { yaml: `bus: { url: ${URL}, inbox_prefix: a.> }\n` }, "a subject without wildcards"],
    ["another key", { yaml: `bus: { url: ${URL}, user: me }\n` }, 'unknown key "user" in bus'],
  ])("%s", (_what, given, message) => {
    expect(() => plan(given)).toThrow(message);
    expect(() => plan(given)).toThrow(expect.objectContaining({ message: expect.not.stringContaining("hunter2") }));
  });
});
