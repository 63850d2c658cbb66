// Nothing dead. A declaration of shipped code that no program and no door for users reaches is refused, even when a test
// calls it: a test of such code proves nothing about what runs. A package's door lists only names that some other file
// imports, except the doors that people outside this repository import from.

import ts from "typescript";
import { createResolve, type Foreign, type Outline, outlineOf } from "./module-outline.ts";
import { broken, type Violation } from "./violation.ts";
import { isShipped, isTest, type Workspace } from "./workspace.ts";

/** Packages people outside this repository import: every name is offered, whether our own code uses it or not. */
const FOR_USERS = ["@toolplane/sdk", "@toolplane/server"];

/** Not wired yet: the bridge to services that speak the older wire will import it. */
const NOT_YET = ["packages/protocol/src/v1r3.ts"];

const isTestKit = (path: string): boolean => path.startsWith("packages/testkit/");

/** What the console's index.html loads. */
const CONSOLE_PAGE = "packages/console/src/main.tsx";

/** Where people begin: the commands' launchers, the scripts of this repository, the console, and what the pages tell them to write. */
const isBeginning = (path: string): boolean =>
  path === CONSOLE_PAGE ||
  (/^(?:packages\/[^/]+\/)?(?:bin|scripts|examples)\//.test(path) && !isTest(path)) ||
  path.endsWith(".md");

const isForTests = (path: string): boolean => !isShipped(path) || isTestKit(path);

type Outlines = ReadonlyMap<string, Outline>;

/** `file#name` of every declaration that code reached from `roots` mentions. */
const reach = (outlines: Outlines, roots: readonly Foreign[]): ReadonlySet<string> => {
  const reached = new Set<string>();
  const loaded = new Set<string>();
  const waiting = [...roots];
  const follow = (file: string, outline: Outline, mentions: Iterable<string>): void => {
    for (const name of mentions) {
      if (outline.declarations.has(name)) waiting.push({ file, name: `:${name}` });
      const foreign = outline.imports.get(name);
      if (foreign !== undefined) waiting.push(foreign);
    }
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { file, name } = next;
    const outline = outlines.get(file);
    if (outline === undefined || reached.has(`${file}#${name}`)) continue;
    reached.add(`${file}#${name}`);
    if (!loaded.has(file)) {
      loaded.add(file);
      follow(file, outline, outline.onLoad.mentions);
      waiting.push(...outline.onLoad.loads);
    }
    if (name === "*") waiting.push(...[...outline.exports.keys()].map((exported) => ({ file, name: exported })));
    const origin = outline.exports.get(name)?.origin;
    if (typeof origin === "object") waiting.push(origin);
    if (typeof origin === "string") {
      waiting.push({ file, name: `:${origin}` });
      follow(file, outline, [origin]);
    }
    const declaration = outline.declarations.get(name.slice(1));
    if (!name.startsWith(":") || declaration === undefined) continue;
    follow(file, outline, declaration.mentions);
    waiting.push(...declaration.loads);
  }
  return reached;
};

/** Everything a file holds, exported or not. */
const wholeFile = (file: string, outline: Outline): readonly Foreign[] => [
  { file, name: "*" },
  ...[...outline.declarations.keys()].map((name) => ({ file, name: `:${name}` })),
];

const findDead = (outlines: Outlines, reached: ReadonlySet<string>, isJudged: (path: string) => boolean): Violation[] =>
  [...outlines]
    .filter(([path]) => isJudged(path))
    .flatMap(([path, outline]) =>
      [...outline.declarations]
        .filter(([name]) => !reached.has(`${path}#:${name}`))
        .map(([name, { line }]) => broken("dead-code", path, line, `no shipped code reaches ${name}: delete it`)),
    );

/** Imported names: `file#name` of the file that is named in the import. */
const importedNames = (outlines: Outlines): ReadonlySet<string> => {
  const names = new Set<string>();
  const add = ({ file, name }: Foreign): void => {
    names.add(`${file}#${name}`);
  };
  for (const outline of outlines.values()) {
    for (const foreign of outline.imports.values()) add(foreign);
    for (const { origin } of outline.exports.values()) if (typeof origin === "object") add(origin);
    for (const { loads } of [outline.onLoad, ...outline.declarations.values()]) loads.forEach(add);
  }
  return names;
};

/** A package with an internal door keeps there what only tests import. A door for users also lists the types of what it offers. */
const findMisplaced = (workspace: Workspace, outlines: Outlines): Violation[] => {
  const used = importedNames(new Map([...outlines].filter(([path]) => isBeginning(path) || !isForTests(path))));
  return [...workspace.manifests.values()]
    .filter(({ name, entries }) => entries.has(`${name}/internal`))
    .flatMap(({ name, entries }) => {
      const door = entries.get(name) ?? "";
      return [...(outlines.get(door)?.exports ?? [])]
        .filter(([exported, { isType }]) => !used.has(`${door}#${exported}`) && !(isType && FOR_USERS.includes(name)))
        .map(([exported, { line }]) =>
          broken("unused-export", door, line, `only tests import ${exported}: list it in ${name}/internal`),
        );
    });
};

const findUnlisted = (outlines: Outlines, open: ReadonlySet<string>): Violation[] => {
  const imported = importedNames(outlines);
  return [...outlines]
    .filter(([path]) => isShipped(path) && !open.has(path) && !imported.has(`${path}#*`))
    .flatMap(([path, outline]) =>
      [...outline.exports]
        // A type beside the function that takes it may be exported: it is part of the function's signature.
        .filter(([name, { isType, origin }]) => !imported.has(`${path}#${name}`) && !(isType && origin === name))
        .map(([name, { line, origin }]) => {
          const act = origin === name ? "do not export it" : "take it off the list";
          return broken("unused-export", path, line, `no file imports ${name}: ${act}`);
        }),
    );
};

/** The code in a page: what people are told to write, they may write. */
const readExamples = (text: string): string =>
  [...text.matchAll(/^```(?:ts|js|typescript|javascript)\n(.*?)^```/gms)].map(([, code]) => code).join("\n");

const sourcesOf = ({ files, sources }: Workspace): ReadonlyMap<string, ts.SourceFile> => {
  const pages = [...files].filter(([path]) => path.endsWith(".md"));
  const parse = (path: string, text: string): ts.SourceFile =>
    ts.createSourceFile(path, readExamples(text), ts.ScriptTarget.Latest, true);
  return new Map([...sources, ...pages.map(([path, text]) => [path, parse(path, text)] as const)]);
};

const usersDoors = (workspace: Workspace): readonly string[] =>
  [...workspace.manifests.values()]
    .filter(({ name }) => FOR_USERS.includes(name))
    .flatMap(({ entries }) => [...entries].filter(([name]) => !name.endsWith("/internal")).map(([, file]) => file));

export const checkUnused = (workspace: Workspace): readonly Violation[] => {
  const outlines: Outlines = new Map(
    [...sourcesOf(workspace)].map(([path, source]) => [path, outlineOf(source, createResolve(workspace, path))]),
  );
  const roots = (isRoot: (path: string) => boolean): readonly Foreign[] =>
    [...outlines].filter(([path]) => isRoot(path)).flatMap(([path, outline]) => wholeFile(path, outline));
  const open = new Set([...NOT_YET, ...usersDoors(workspace)]);
  const isRoot = (path: string): boolean => isBeginning(path) || open.has(path);
  const shipped = reach(outlines, roots(isRoot));
  const tested = reach(
    outlines,
    roots((path) => isRoot(path) || !isShipped(path)),
  );
  return [
    ...findDead(outlines, shipped, (path) => isShipped(path) && !isTestKit(path)),
    ...findDead(outlines, tested, (path) => isShipped(path) && isTestKit(path)),
    ...findUnlisted(outlines, open),
    ...findMisplaced(workspace, outlines),
  ];
};
