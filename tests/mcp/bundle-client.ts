// The client side of the bridge as one file (programs/conformance-client.ts). The suite of the protocol starts it once for each
// scenario, and one file starts in a fraction of the time that the sources need.

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly source: string }>>;
}

/** The project's own packages from their sources; all others stay imports. */
const fromSource: Plugin = {
  name: "from-source",
  setup({ onResolve }) {
    onResolve({ filter: /^@toolplane\// }, ({ path }) => {
      const [, name = "", ...rest] = path.split("/");
      const { exports } = JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8")) as Manifest;
      return { path: join(ROOT, "packages", name, exports[[".", ...rest].join("/")]?.source ?? "") };
    });
  },
};

export interface BundledClient extends Disposable {
  /** Starts it; the suite adds the address. */
  readonly command: string;
}

export const bundleClient = async (): Promise<BundledClient> => {
  // Beside the packages that it imports.
  const folder = join(ROOT, "node_modules/.cache", `toolplane-conformance-${process.pid}`);
  const outfile = join(folder, "client.mjs");
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: [join(ROOT, "tests/mcp/programs/conformance-client.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    plugins: [fromSource],
    logLevel: "silent",
  });
  return {
    command: `${process.execPath} --no-warnings ${outfile}`,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
};
