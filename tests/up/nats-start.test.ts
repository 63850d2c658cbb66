// NATS that cannot be used at the start: one sentence, what to do, an exit code, and no secret.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startNats } from "@toolplane/testkit";
import { expect, test, vi } from "vitest";
import { startRelayTo } from "../bus/tcp-relay.ts";
import { makePlace, makeUsedPlace } from "./data.ts";
import { startUp } from "./up-process.ts";

vi.setConfig({ testTimeout: 120_000 });

/** The last line a start that failed has said, and its exit code. */
const failWith = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  await using place = await makeUsedPlace();
  await using up = startUp({ dataDir: place.dataDir, args, env });
  const code = await up.exited;
  return { code, line: up.stderr().trimEnd().split("\n").at(-1) ?? "", all: up.stdout() + up.stderr() };
};

test("[UP-9-5] nobody answers: the host, what to do, exit code 1", async () => {
  const { code, line, all } = await failWith([], { TOOLPLANE_NATS_URL: "nats://me:hunter2@127.0.0.1:1" });
  expect(code).toBe(1);
  expect(line).toMatch(/^toolplane: upstream_unavailable: no server answers at 127\.0\.0\.1:1; .*--nats-url/);
  expect(all).not.toContain("hunter2");
});

test("[UP-9-5] refused credentials, no JetStream, a file that is not there: each its own sentence", async () => {
  await using nats = await startNats({ jetStream: false, config: "authorization { user: ann, password: right }" });
  const at = `127.0.0.1:${nats.port}`;
  await using place = await makePlace();
  const noCredentials = join(place.root, "plane.creds");
  writeFileSync(noCredentials, "hunter2");
  const [refused, bare, missing, empty, percent] = await Promise.all([
    failWith([], { TOOLPLANE_NATS_URL: `nats://ann:hunter2@${at}` }),
    failWith(["--roles", "api"], { TOOLPLANE_NATS_URL: `nats://ann:right@${at}` }),
    failWith(["--nats-url", nats.url], { TOOLPLANE_NATS_CREDENTIALS: "/nowhere/plane.creds" }),
    failWith(["--nats-url", nats.url], { TOOLPLANE_NATS_CREDENTIALS: noCredentials }),
    failWith([], { TOOLPLANE_NATS_URL: `nats://ann:hunter2%@${at}` }),
  ]);
  expect([refused.code, refused.line]).toEqual([1, expect.stringContaining(`auth_failed: NATS at ${at} refuses`)]);
  expect(refused.all).not.toContain("hunter2");
  expect([bare.code, bare.line]).toEqual([1, expect.stringContaining("has no JetStream for this user; start it")]);
  expect(bare.all).not.toContain("right@");
  expect(missing.code).toBe(2);
  expect(missing.line).toContain("the credentials for NATS: /nowhere/plane.creds: there is no such file");
  expect([empty.code, empty.line]).toEqual([2, expect.stringContaining("not the text of a credentials file")]);
  expect([percent.code, percent.line]).toEqual([2, expect.stringContaining("must be URL-encoded")]);
  expect(empty.all + percent.all).not.toContain("hunter2");
});

test("[UP-9-5] NATS that is lost during the start: nothing is said of trying again, for nothing is", async () => {
  const lostAt = async (subject: string) => {
    // One for each: two planes on one NATS refuse each other.
    await using nats = await startNats();
    using relay = await startRelayTo(nats.port, (chunk) => {
      if (chunk.includes(subject)) relay[Symbol.dispose]();
      return true;
    });
    return await failWith(["--nats-url", `nats://${relay.address}`]);
  };
  for (const { code, line } of await Promise.all([
    lostAt("$JS.API.STREAM.INFO"),
    lostAt("SUB cg.v1r4.*.*.rpc.gateway"),
  ])) {
    expect(code).toBe(1);
    expect(line).toMatch(
      /^toolplane: upstream_unavailable: NATS went away .* during the start; see that it runs, then start again/,
    );
    expect(line).not.toMatch(/tried again|server's log/);
  }
});
