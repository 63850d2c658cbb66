// What every check looks at: the repository as a map from path to text. Pure, so a check can be shown a bad
// repository that exists only in its test.

import { dirname, join } from "node:path/posix";
import ts from "typescript";

/** Repository-relative posix path -> text. */
export type FileMap = ReadonlyMap<string, string>;

export interface Manifest {
  readonly path: string;
  /** "" for the root. */
  readonly directory: string;
  readonly name: string;
  /** What installing the package brings. */
  readonly runtime: ReadonlySet<string>;
  /** What only its developers have. */
  readonly development: ReadonlySet<string>;
  /** What other packages may name in an import -> the source file behind it. */
  readonly entries: ReadonlyMap<string, string>;
}

export interface Workspace {
  readonly files: FileMap;
  /** Everything a JavaScript engine could be given, parsed. */
  readonly sources: ReadonlyMap<string, ts.SourceFile>;
  readonly manifests: ReadonlyMap<string, Manifest>;
}

export const isCode = (path: string): boolean => /\.(?:[cm]?[jt]s|[jt]sx)$/.test(path) && !path.includes("/fixtures/");

const keysOf = (value: unknown): readonly string[] =>
  typeof value === "object" && value !== null ? Object.keys(value) : [];

const parseEntries = (name: string, directory: string, exports: unknown): ReadonlyMap<string, string> => {
  const entries = new Map<string, string>();
  for (const [subpath, entry] of typeof exports === "object" && exports !== null ? Object.entries(exports) : []) {
    const source: unknown = typeof entry === "string" ? entry : (entry as { source?: unknown }).source;
    if (typeof source === "string") entries.set(join(name, subpath), join(directory, source));
  }
  return entries;
};

const parseManifest = (path: string, text: string): Manifest => {
  const json = JSON.parse(text) as { name?: unknown; devDependencies?: unknown } & Record<string, unknown>;
  const directory = dirname(path);
  const name = typeof json.name === "string" ? json.name : "";
  return {
    path,
    directory: directory === "." ? "" : directory,
    name,
    runtime: new Set(
      ["dependencies", "peerDependencies", "optionalDependencies"].flatMap((section) => keysOf(json[section])),
    ),
    development: new Set(keysOf(json.devDependencies)),
    entries: parseEntries(name, directory, json.exports),
  };
};

export const createWorkspace = (files: FileMap): Workspace => {
  const sources = new Map<string, ts.SourceFile>();
  const manifests = new Map<string, Manifest>();
  for (const [path, text] of files) {
    if (isCode(path)) sources.set(path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
    if (path === "package.json" || path.endsWith("/package.json")) {
      const manifest = parseManifest(path, text);
      manifests.set(manifest.directory, manifest);
    }
  }
  return { files, sources, manifests };
};

/** The manifest that speaks for a file: the nearest one above it. */
export const nearestManifest = (workspace: Workspace, path: string): Manifest | undefined => {
  let directory = dirname(path);
  while (directory !== ".") {
    const found = workspace.manifests.get(directory);
    if (found !== undefined) return found;
    directory = dirname(directory);
  }
  return workspace.manifests.get("");
};

export const isTest = (path: string): boolean => /\.test(?:-d)?\.tsx?$/.test(path);

/** A suite that every adapter of a port calls from its tests. */
export const isContract = (path: string): boolean => path.endsWith(".contract.ts");

/** Code that is shipped: under a package's `src`, and not a test. */
export const isShipped = (path: string): boolean => /^packages\/[^/]+\/src\//.test(path) && !isTest(path);

export const lineOf = (source: ts.SourceFile, node: ts.Node): number =>
  source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;

export const walk = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node);
  node.forEachChild((child) => {
    walk(child, visit);
  });
};
