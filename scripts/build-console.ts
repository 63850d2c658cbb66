// `npm run build:console`, and part of `npm ci` (`prepare`) and `npm run build`: bundles the console into packages/console/dist,
// each file also compressed. A server that runs meanwhile always finds a whole page: new files are added under their own names,
// index.html is replaced last and at once, and only then the files of the build before go. With `--if-changed` nothing is done when
// the page is newer than its sources.

import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CONSOLE = `${ROOT}packages/console/`;
const DIST = `${CONSOLE}dist/`;
const INDEX = "index.html";
const SOURCES = ["src/**/*", "public/*", "index.html", "vite.config.ts", "package.json"];

const isFile = (path: string): boolean => statSync(path).isFile();
const filesIn = (folder: string): readonly string[] =>
  globSync("**/*", { cwd: folder }).filter((name) => isFile(folder + name));

const isFresh = (): boolean => {
  const built = statSync(DIST + INDEX, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const changed = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: CONSOLE })).map(
    (name) => statSync(CONSOLE + name).mtimeMs,
  );
  return built > Math.max(...changed);
};

/** Pictures and the like are compressed already. */
const isText = (name: string): boolean => /\.(?:html|js|css|svg)$/.test(name);

const bundle = async (folder: string): Promise<void> => {
  // A test run would be given the development build of React, which is three times as large.
  process.env.NODE_ENV = "production";
  const { build } = await import("vite");
  await build({
    configFile: `${CONSOLE}vite.config.ts`,
    logLevel: "warn",
    build: { outDir: folder, emptyOutDir: false },
  });
  for (const name of filesIn(folder).filter(isText))
    writeFileSync(`${folder}${name}.gz`, gzipSync(readFileSync(folder + name), { level: 9 }));
};

const putInPlace = (folder: string): void => {
  const fresh = new Set(filesIn(folder));
  const before = existsSync(DIST) ? filesIn(DIST) : [];
  for (const name of fresh) if (!name.startsWith(INDEX)) cpSync(folder + name, DIST + name);
  for (const name of [`${INDEX}.gz`, INDEX]) {
    const waiting = `${DIST}.${name}.${process.pid}`;
    cpSync(folder + name, waiting);
    renameSync(waiting, DIST + name);
  }
  for (const name of before) if (!fresh.has(name)) rmSync(DIST + name, { force: true });
};

const isInstalled = (): boolean => {
  try {
    import.meta.resolve("vite");
    return existsSync(fileURLToPath(import.meta.resolve("vite/package.json")));
  } catch {
    return false;
  }
};

if (process.argv.includes("--if-changed") && isFresh()) process.exit(0);
if (!isInstalled()) {
  console.error("the console is not built: vite is not installed (npm ci without --omit=dev installs it)");
  process.exit(0);
}
mkdirSync(`${ROOT}node_modules/.cache`, { recursive: true });
const folder = `${mkdtempSync(`${ROOT}node_modules/.cache/console-`)}/`;
try {
  await bundle(folder);
  putInPlace(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
