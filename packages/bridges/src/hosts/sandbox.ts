// What a sandboxed Node host is started with: Node's permission model, everything denied but what is named.
// B1. Added without being named: the files on the command line, the package.json files above them (Node reads those to
//     learn a file's kind), the node_modules folders beside those, and what is linked into them (a workspace's packages).
// B2. Nothing else of the host's folder: a neighbour file may hold a secret; who imports one names it under `read`.
// B3. Never opened: /proc, where other processes can be read, and the closed folders. A folder above one of them is opened
//     entry by entry, without it, as it is when the host starts.
// B4. The model binds the Node process; it is a fence around mistakes and curious tools, not a jail for native code.

import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import type { HostSandbox } from "./host.ts";

export interface SandboxFiles {
  isFile(path: string): boolean;
  isDirectory(path: string): boolean;
  /** The real path, or undefined when there is none. */
  tryRealPath(path: string): string | undefined;
  list(directory: string): readonly string[];
}

const attempt = <Value>(read: () => Value, otherwise: Value): Value => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

const systemFiles: SandboxFiles = {
  isFile: (path) => attempt(() => statSync(path).isFile(), false),
  isDirectory: (path) => attempt(() => statSync(path).isDirectory(), false),
  tryRealPath: (path) => attempt<string | undefined>(() => realpathSync(path), undefined),
  list: (directory) => attempt(() => readdirSync(directory), []),
};

const foldersAbove = (path: string): readonly string[] => {
  const folders: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    folders.push(folder);
    if (dirname(folder) === folder) return folders;
  }
};

/** Packages that are links lie somewhere else: npm does this for workspaces. */
const linkedPackages = (modules: string, files: SandboxFiles): readonly string[] => {
  const direct = files.list(modules).map((name) => join(modules, name));
  const scoped = direct
    .filter((path) => path.startsWith(join(modules, "@")))
    .flatMap((path) => files.list(path).map((name) => join(path, name)));
  return [...direct, ...scoped].flatMap((path) => {
    const real = files.tryRealPath(path);
    return real === undefined || real === path || real.startsWith(`${modules}/`) ? [] : [real];
  });
};

const ALWAYS_CLOSED = ["/proc"] as const;

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);

/** The path, or what is left of it without the closed folders. */
const withoutClosed = (path: string, closed: readonly string[], files: SandboxFiles): readonly string[] => {
  const real = files.tryRealPath(path) ?? path;
  if (closed.some((folder) => isWithin(path, folder) || isWithin(real, folder))) return [];
  if (!closed.some((folder) => isWithin(folder, path) || isWithin(folder, real))) return [path];
  return files.list(path).flatMap((name) => withoutClosed(join(path, name), closed, files));
};

const neededFor = (path: string, files: SandboxFiles): readonly string[] =>
  [path, files.tryRealPath(path) ?? path].flatMap((file) => [
    file,
    ...foldersAbove(file).flatMap((folder) => {
      const modules = join(folder, "node_modules");
      const found = files.isDirectory(modules) ? [modules, ...linkedPackages(modules, files)] : [];
      return [join(folder, "package.json"), ...found];
    }),
  ]);

/** The options for Node, to stand before the program. `args` is what follows `node` in the command. */
export const planSandboxArgs = (
  sandbox: HostSandbox,
  args: readonly string[],
  cwd: string,
  files: SandboxFiles = systemFiles,
  closedFolders: readonly string[] = [],
): readonly string[] => {
  const closed = [...ALWAYS_CLOSED, ...closedFolders.flatMap((path) => [path, files.tryRealPath(path) ?? path])];
  const opened = (paths: Iterable<string>): readonly string[] => [
    ...new Set([...paths].flatMap((path) => (path === "" ? [] : withoutClosed(path, closed, files)))),
  ];
  const named = args.filter((arg) => !arg.startsWith("-")).map((arg) => resolve(cwd, arg));
  const programs = named.filter((path) => files.isFile(path));
  if (programs.length === 0) {
    throw new ToolplaneError("bad_request", "a sandboxed host needs the file of its program in its command");
  }
  const both = (path: string): readonly string[] => [resolve(cwd, path), files.tryRealPath(resolve(cwd, path)) ?? ""];
  const read = new Set([
    ...programs.flatMap((path) => neededFor(path, files)),
    ...(sandbox.read ?? []).flatMap(both),
    ...(sandbox.write ?? []).flatMap(both),
  ]);
  const write = new Set((sandbox.write ?? []).flatMap(both));
  return [
    "--permission",
    // On this signal Node opens its debugger: a neighbour of the same user could send it.
    "--disable-sigusr1",
    ...opened(read).map((path) => `--allow-fs-read=${path}`),
    ...opened(write).map((path) => `--allow-fs-write=${path}`),
    ...(sandbox.childProcess === true ? ["--allow-child-process"] : []),
  ];
};
