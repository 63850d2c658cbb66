// Makes a fresh cluster: by initdb, or, for throw-away servers, by copying one that initdb made earlier (a third of the
// time). The cached cluster appears under its name only when it is complete, so several processes may race for it.

import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import type { Guard } from "../guard/guard.ts";
import { spawnGuarded } from "../guarded/spawn-guarded.ts";
import { writeLoginRules } from "./login-rules.ts";
import { SUPERUSER } from "./logins.ts";
import { handOver } from "./ownership.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { pickMaker, type RunAs } from "./run-as.ts";
import { ensureKey, makeVerifier, type ServerKey } from "./server-key.ts";

export interface ClusterOptions {
  readonly cluster: string;
  readonly binaries: PostgresBinaries;
  readonly runAs: RunAs | undefined;
  /** A directory that user may enter, for a cluster to copy from; undefined: run initdb and let it sync to disk. */
  readonly cache: string | undefined;
  readonly key: ServerKey;
  readonly guard: Guard;
}

// The useful message is at the end; a child that never stops writing must not fill our memory.
const OUTPUT_LIMIT = 64 * 1024;

/** The line that names the cause; the whole text when there is none. */
const whyItFailed = (output: string): string =>
  output.split("\n").find((line) => /\b(?:FATAL|PANIC|ERROR|error): /.test(line)) ?? output.trim().slice(-2000);

const mustRun = async (argv: readonly string[], guard: Guard, runAs?: RunAs): Promise<void> => {
  const started = await spawnGuarded(argv, {
    label: "initdb",
    // LC_ALL=C: messages are in English, whatever the machine's language is.
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
    stdio: ["ignore", "pipe", "pipe"],
    guard,
    ...(runAs ?? {}),
  });
  let output = "";
  for (const stream of [started.child.stdout, started.child.stderr]) {
    stream?.setEncoding("utf8");
    stream?.on("data", (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_LIMIT);
    });
  }
  const { code, signal } = await started.ended;
  if (code === 0) return;
  throw new ToolplaneError("storage_error", `${argv[0]} failed (${signal ?? code}): ${whyItFailed(output)}`, {
    detail: { todo: "mend that and start again" },
  });
};

// Collation by code point: the same order on every machine, and no reindexing when a system library changes.
const localeFlags = (major: number): readonly string[] =>
  major >= 17 ? ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"] : ["--locale=C"];

/**
 * Makes a cluster whose superuser has the key's password and which lets no login in without one. initdb runs as a user with
 * an account; then everything it made becomes the server's.
 */
const initdb = async (
  { binaries, runAs, guard }: ClusterOptions,
  cluster: string,
  key: ServerKey,
  extra: readonly string[],
): Promise<void> => {
  const maker = pickMaker(runAs);
  const password = `${cluster}.password`;
  mkdirSync(cluster, { mode: 0o700 });
  writeFileSync(password, makeVerifier(key.passwordOf(SUPERUSER)), { mode: 0o600, flag: "wx" });
  if (maker !== undefined) for (const path of [cluster, password]) chownSync(path, maker.uid, maker.gid);
  const flags = [
    `--pgdata=${cluster}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${password}`,
    "--encoding=UTF8",
    ...localeFlags(binaries.major),
    "--auth=scram-sha-256",
    ...(binaries.major >= 17 ? ["--no-instructions"] : []),
    ...extra,
  ];
  await mustRun([binaries.initdb, ...flags], guard, maker);
  await rm(password);
  if (maker !== undefined && runAs !== undefined) handOver(cluster, { from: maker, to: runAs });
  writeLoginRules(cluster, "closed");
};

const countEntries = async (path: string): Promise<number> => (await readdir(path, { recursive: true })).length;

/** The cached cluster, if it is whole: its name says how many entries it has. */
const tryFindCached = async (cache: string, prefix: string): Promise<string | undefined> => {
  for (const name of await readdir(cache)) {
    const count = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (!Number.isSafeInteger(count)) continue;
    if ((await countEntries(join(cache, name))) === count) return join(cache, name);
    // Some systems delete old files in temp directories one by one.
    await rm(join(cache, name), { recursive: true, force: true });
  }
  return undefined;
};

/** The password of its superuser is derived from the cache's own key. */
const cachedCluster = async (options: ClusterOptions, cache: string, key: ServerKey): Promise<string> => {
  const prefix = `cluster-${options.binaries.version}-${key.id}-`;
  const found = await tryFindCached(cache, prefix);
  if (found !== undefined) return found;
  const building = join(cache, `building-${randomBytes(6).toString("hex")}`);
  // One-megabyte log segments: a fresh cluster is then 24 MB instead of 39 to copy.
  await initdb(options, building, key, ["--no-sync", "--wal-segsize=1"]);
  const cached = join(cache, `${prefix}${await countEntries(building)}`);
  try {
    await rename(building, cached);
  } catch (cause) {
    await rm(building, { recursive: true, force: true });
    // Another process made the same one first.
    if (!existsSync(cached)) throw cause;
  }
  return cached;
};

/** Leftovers of attempts that were killed half-way. */
const removeHalfMade = async (cluster: string): Promise<void> => {
  const directory = dirname(cluster);
  for (const name of await readdir(directory)) {
    if (name.startsWith(`${basename(cluster)}.`)) await rm(join(directory, name), { recursive: true, force: true });
  }
};

/** Writes the directory to disk, so that a new name in it survives a loss of power. */
const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

/**
 * Makes the cluster unless it exists. It gets its name when it is complete, so a half-made cluster never has it. Returns the key
 * whose password the superuser has: for a copied cluster that is the cache's key.
 */
export const ensureCluster = async (options: ClusterOptions): Promise<ServerKey> => {
  const { cluster, binaries, key, cache } = options;
  if (existsSync(join(cluster, "PG_VERSION"))) {
    checkMajor(cluster, binaries);
    return key;
  }
  if (existsSync(cluster)) {
    throw new ToolplaneError("storage_error", `${cluster} is there but has no PG_VERSION; it is damaged or not ours`, {
      detail: { todo: "restore it, move it away, or start with another --data" },
    });
  }
  await removeHalfMade(cluster);
  const building = `${cluster}.${randomBytes(6).toString("hex")}`;
  if (cache === undefined) {
    await initdb(options, building, key, []);
    await rename(building, cluster);
    await syncDirectory(dirname(cluster));
    return key;
  }
  const cacheKey = ensureKey(cache);
  // As ourselves: the copy keeps its owner, and the server's user cannot write beside it.
  await mustRun(["cp", "-R", "-p", await cachedCluster(options, cache, cacheKey), building], options.guard);
  await rename(building, cluster);
  return cacheKey;
};

const checkMajor = (cluster: string, binaries: PostgresBinaries): void => {
  const found = readFileSync(join(cluster, "PG_VERSION"), "utf8").trim();
  if (found === String(binaries.major)) return;
  throw new ToolplaneError(
    "storage_error",
    `the data in ${cluster} is of PostgreSQL ${found}, the server is ${binaries.version}; ` +
      "export it with the version that wrote it and import it here",
    { detail: { found, server: binaries.version } },
  );
};
