// As root every host runs under a user of its own: it can read neither the server's environment nor its token.

import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickRunAs } from "@toolplane/processes";
import { until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { makeUsedPlace, type Place } from "../up/data.ts";
import { PATIENCE_MS, startUp } from "../up/up-process.ts";

const isRoot = process.getuid?.() === 0;
const LIMITS = { hello_ms: 20_000, startup_ms: 40_000 };

interface HostEntry {
  readonly name: string;
  readonly state: string;
  readonly problem: { readonly message: string } | null;
}

/** A program that everybody can run, and the same one behind a closed door. */
const placePrograms = ({ root }: Place): { readonly open: string; readonly closed: string } => {
  const source = fileURLToPath(new URL("./free-programs/sh-host.sh", import.meta.url));
  mkdirSync(join(root, "closed"), { mode: 0o700 });
  const programs = { open: join(root, "host.sh"), closed: join(root, "closed", "host.sh") };
  for (const path of Object.values(programs)) {
    copyFileSync(source, path);
    chmodSync(path, 0o755);
  }
  return programs;
};

test("[SEC-9-U1] [SEC-9-U2] [SEC-9-U3] a host reads neither the server's environment nor its token, unless told to be the server's user", async () => {
  await using place = await makeUsedPlace();
  const { open, closed } = placePrograms(place);
  // The directory of the configuration is the hosts' folder.
  chmodSync(place.root, 0o755);
  const token = join(place.dataDir, "token");
  const entry = (name: string, program: string, more = {}) => ({
    name,
    command: [program, `--secret=${token}`, "-"],
    limits: LIMITS,
    ...more,
  });
  const hosts = [
    entry("one", open),
    entry("two", open),
    entry("shut", closed),
    entry("trusted", closed, { user: "inherit" }),
  ];
  writeFileSync(join(place.root, "toolplane.yaml"), JSON.stringify({ project: "demo", hosts }));
  await using up = startUp({ dataDir: place.dataDir, cwd: place.root, env: { CANARY_KEY: "canary-5f1c" } });
  await up.ready();
  expect(existsSync(token)).toBe(true);
  const list = async (): Promise<readonly HostEntry[]> =>
    (await up.request("GET", "/projects/demo/hosts")).body.items as unknown as readonly HostEntry[];
  const isTried = ({ state, problem }: HostEntry): boolean => state !== "starting" || problem !== null;
  await until("every host to be tried", async () => (await list()).every(isTried), PATIENCE_MS);
  const look = async (host: string) => {
    const call = { tool_name: `${host}__look`, arguments: {}, wait_seconds: 60 };
    return (await up.request("POST", "/projects/demo/calls", call)).body.result as Record<string, unknown> | undefined;
  };
  const works = { home: true, tmp: true, cwd: true };
  const [one, two, trusted] = [await look("one"), await look("two"), await look("trusted")];
  expect(trusted).toMatchObject({ uid: process.getuid?.(), environ: true, secret: true, cwd: true });
  if (!isRoot) {
    // Nobody but root can lend a user; the guide says what that means.
    expect(one).toMatchObject({ uid: process.getuid?.(), ...works });
    return;
  }
  expect([one, two]).toEqual([
    { uid: expect.any(Number), environ: false, secret: false, ...works },
    { uid: expect.any(Number), environ: false, secret: false, ...works },
  ]);
  expect(new Set([one?.uid, two?.uid, 0, pickRunAs()?.uid]).size).toBe(4);
  const shut = (await list()).find(({ name }) => name === "shut");
  expect(shut?.problem?.message).toContain(`cannot reach ${closed}`);
  expect(shut?.problem?.message).toContain("user: inherit");
}, 120_000);
