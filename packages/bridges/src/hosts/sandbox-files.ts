// What planning a sandbox reads of the file system.

import { opendirSync, realpathSync, statSync } from "node:fs";

export interface SandboxEntry {
  readonly name: string;
  /** The kind of the entry itself; a link is not followed. */
  readonly kind: "directory" | "link" | "other";
}

export interface SandboxFiles {
  isFile(path: string): boolean;
  isDirectory(path: string): boolean;
  /** The real path, or undefined when there is none. */
  tryRealPath(path: string): string | undefined;
  /** One after the other, so that a large directory need not be read to its end. */
  entries(directory: string): Iterable<SandboxEntry>;
}

const attempt = <Value>(read: () => Value, otherwise: Value): Value => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

function* readEntries(directory: string): Generator<SandboxEntry> {
  const opened = attempt(() => opendirSync(directory), undefined);
  if (opened === undefined) return;
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync())
      yield { name: entry.name, kind: entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "directory" : "other" };
  } finally {
    opened.closeSync();
  }
}

export const systemFiles: SandboxFiles = {
  isFile: (path) => attempt(() => statSync(path).isFile(), false),
  isDirectory: (path) => attempt(() => statSync(path).isDirectory(), false),
  tryRealPath: (path) => attempt<string | undefined>(() => realpathSync(path), undefined),
  entries: readEntries,
};

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
