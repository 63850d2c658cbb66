// Writes a planned project. A file that is there is never changed: then nothing is written at all.

import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolplaneError } from "@toolplane/protocol";
import { WrongUsage } from "../cli/wrong-usage.ts";
import { type ProjectPlan, planProject } from "./plan-project.ts";
import { pythonFiles } from "./python-project.ts";
import { typescriptFiles } from "./typescript-project.ts";

export interface WriteProjectOptions {
  readonly directory: string;
  readonly language: string | undefined;
  readonly version: string;
  /** A folder with packed packages. */
  readonly packages: string | undefined;
}

/** Four levels up from this file in a checkout of the repository; in an installed package something else. */
const REPOSITORY = new URL("../../../../", import.meta.url);

/** Beside the build in what is published; in the repository where it is kept. */
const LIBRARIES = [
  new URL("../python/toolplane.py", import.meta.url),
  new URL("hosts/python/toolplane.py", REPOSITORY),
];

const findCheckout = (): string | undefined =>
  existsSync(new URL("packages/sdk/src/index.ts", REPOSITORY)) ? resolve(fileURLToPath(REPOSITORY)) : undefined;

const readLibrary = (): string => {
  const found = LIBRARIES.find((path) => existsSync(path));
  if (found === undefined) throw new ToolplaneError("not_found", "this installation has no toolplane.py");
  return readFileSync(found, "utf8");
};

const findTarballs = (folder: string, directory: string): readonly string[] => {
  const found = globSync("toolplane-*.tgz", { cwd: folder }).toSorted();
  if (found.length === 0)
    throw new WrongUsage(`--packages names ${folder}, where no packed packages are: npm run pack makes them`);
  return found.map((name) => relative(directory, join(folder, name)));
};

/** The plan, and the files that were written. */
export const writeProject = (
  options: WriteProjectOptions,
): { readonly plan: ProjectPlan; readonly files: readonly string[] } => {
  const { language, version, packages } = options;
  const directory = resolve(options.directory);
  const tarballs = packages === undefined ? [] : findTarballs(resolve(packages), directory);
  const plan = planProject({ folder: basename(directory), language, version, tarballs, checkout: findCheckout() });
  const files = plan.language === "python" ? pythonFiles(plan, readLibrary()) : typescriptFiles(plan);
  const taken = Object.keys(files).find((name) => existsSync(join(directory, name)));
  if (taken !== undefined)
    throw new ToolplaneError("conflict", `${join(directory, taken)} is there already; nothing was written`, {
      detail: { todo: "choose an empty folder" },
    });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text, { flag: "wx" });
  }
  return { plan, files: Object.keys(files) };
};
