// What a sandboxed Node host is started with: Node's permission model, everything denied but what is named.
// SB1. Added without being named: the files on the command line, the package.json files above them (Node reads those to
//     learn a file's kind), the node_modules folders beside those, and what is linked into them (a workspace's packages).
// SB2. Nothing else of the host's folder: a neighbouring file may hold a secret. A host that imports one must name it under
//     `read`.
// SB3. Never opened: /proc, where other processes can be read, and the closed folders. A folder above one of them is opened
//     entry by entry, without it, as it is when the host starts.
// SB4. No link to a directory in an opened folder: Node compares paths as text, so `link/..` would lead anywhere. A named
//     folder that holds one is refused; node_modules that holds one is opened around it (sandbox-packages.ts).
// SB5. The model binds the Node process; it is a fence around mistakes and curious tools, not a jail for native code.

import { dirname, join, resolve } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import type { HostSandbox } from "./host.ts";
import { isWithin, type SandboxFiles, systemFiles } from "./sandbox-files.ts";
import { GUARD_ARGS } from "./sandbox-guard.ts";
import { refuseLinks } from "./sandbox-links.ts";
import { openPackages } from "./sandbox-packages.ts";

const foldersAbove = (path: string): readonly string[] => {
  const folders: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    folders.push(folder);
    if (dirname(folder) === folder) return folders;
  }
};

const ALWAYS_CLOSED = ["/proc"] as const;

/** The path, or what is left of it without the closed folders. */
const withoutClosed = (path: string, closed: readonly string[], files: SandboxFiles): readonly string[] => {
  const real = files.tryRealPath(path) ?? path;
  if (closed.some((folder) => isWithin(path, folder) || isWithin(real, folder))) return [];
  if (!closed.some((folder) => isWithin(folder, path) || isWithin(folder, real))) return [path];
  return [...files.entries(path)].flatMap(({ name }) => withoutClosed(join(path, name), closed, files));
};

const neededFor = (path: string, files: SandboxFiles): readonly string[] =>
  [path, files.tryRealPath(path) ?? path].flatMap((file) => [
    file,
    ...foldersAbove(file).flatMap((folder) => {
      const modules = join(folder, "node_modules");
      const found = files.isDirectory(modules) ? openPackages(modules, files) : [];
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
  const readable = (sandbox.read ?? []).map((path) => resolve(cwd, path));
  const writable = (sandbox.write ?? []).map((path) => resolve(cwd, path));
  refuseLinks(readable, [...readable, ...writable], { files, closed });
  // A link to a file that may only be read would make that file writable.
  refuseLinks(writable, writable, { files, closed });
  const both = (path: string): readonly string[] => [path, files.tryRealPath(path) ?? ""];
  const read = new Set([
    ...programs.flatMap((path) => neededFor(path, files)),
    ...[...readable, ...writable].flatMap(both),
  ]);
  const write = new Set(writable.flatMap(both));
  return [
    "--permission",
    // On this signal Node opens its debugger: a neighbour of the same user could send it.
    "--disable-sigusr1",
    ...GUARD_ARGS,
    ...opened(read).map((path) => `--allow-fs-read=${path}`),
    ...opened(write).map((path) => `--allow-fs-write=${path}`),
    ...(sandbox.childProcess === true ? ["--allow-child-process"] : []),
  ];
};
