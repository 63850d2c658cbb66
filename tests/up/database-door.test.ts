// The embedded database is no way out: neither a tool host of the plane nor another user of the machine gets into it.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { makePlace } from "./data.ts";
import { startUp } from "./up-process.ts";

vi.setConfig({ testTimeout: 180_000 });

const HOST = fileURLToPath(new URL("./programs/curious-host.ts", import.meta.url));
const isRoot = process.getuid?.() === 0;
/** No password was given or a wrong one; or the socket cannot even be reached. */
const SHUT = /password|EACCES|ERR_ACCESS_DENIED/;

test("[SEC-DB-1] a sandboxed host that reaches the database's socket cannot log in, and reads no password", async () => {
  await using place = await makePlace();
  const host = { name: "curious", command: ["node", "--conditions=source", HOST], sandbox: {}, prefix: "" };
  writeFileSync(join(place.root, "toolplane.yaml"), JSON.stringify({ project: "demo", hosts: [host] }));
  await using up = startUp({ dataDir: place.dataDir, cwd: place.root });
  await up.ready();
  await vi.waitUntil(async () => (await up.request("GET", "/projects/demo/tools/look")).status === 200, 60_000);
  const call = { tool_name: "look", arguments: { data_dir: place.dataDir }, wait_seconds: 60 };
  const { body } = await up.request("POST", "/projects/demo/calls", call);
  const { files, tries, variables } = body.result as { files: string[]; tries: string[]; variables: string[] };
  for (const said of [...files, ...tries]) expect(said).toMatch(SHUT);
  expect(variables.join("\n")).not.toContain("postgresql://");
});

/** What `nobody` may do: a try with each tool a process has for reaching a socket or a file. */
const asNobody = (program: string, args: readonly string[]): string => {
  try {
    return execFileSync(process.execPath, ["-e", program, ...args], { uid: 65_534, gid: 65_534, cwd: "/", env: {}, encoding: "utf8" });
  } catch (error) {
    return String((error as { readonly stderr?: unknown }).stderr);
  }
};
const READ = "console.log(require('fs').readFileSync(process.argv[1], 'utf8'))";
const CONNECT = "require('net').connect(process.argv[1]).on('connect', () => { console.log('connected'); process.exit(0) })";

test.runIf(isRoot)("[SEC-DB-2] as root: a process of the user nobody reaches neither the socket nor a file of the database", async () => {
  await using place = await makePlace();
  await using up = startUp({ dataDir: place.dataDir });
  await up.ready();
  const of = (path: string): string => join(place.dataDir, path);
  expect(asNobody(CONNECT, [of("postgres/socket/.s.PGSQL.5432")])).toContain("EACCES");
  for (const path of ["postgres/cluster/PG_VERSION", "postgres/cluster/pg_hba.conf", "postgres/server.log", "token"])
    expect(asNobody(READ, [of(path)])).toContain("EACCES");
});
