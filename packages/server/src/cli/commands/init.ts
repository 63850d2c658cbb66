// `toolplane init`: a tool project that runs; needs no server.

import { resolve } from "node:path";
import { readVersion } from "../../up/version.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";

const NEXT = {
  typescript: "npm install && npm test",
  python: "python3 -m unittest",
} as const;

const UNPUBLISHED =
  "the packages are not on npm yet: name the folder with the tarballs of `npm run pack` (--packages DIR), or run init from a checkout";

export const initCommand: Command = {
  name: "init",
  usage: "[DIR]",
  least: 0,
  most: 1,
  options: ["language", "packages"],
  summary: "make a tool project in TypeScript or Python, with a test that runs",
  async run({ args, flags, io, output }) {
    // Imported here, because only this command needs it.
    const { writeProject } = await import("../../init/write-project.ts");
    const directory = resolve(io.cwd, args[0] ?? ".");
    const packages = flags.packages === undefined ? undefined : resolve(io.cwd, flags.packages);
    const { plan, files } = writeProject({ directory, language: flags.language, version: readVersion(), packages });
    if (output.json) output.data({ directory, name: plan.name, language: plan.language, packages: plan.source, files });
    else {
      output.line(`${plan.language} project ${plan.name} in ${directory}: ${files.join(", ")}`);
      if (plan.source === "registry") output.line(`note: ${UNPUBLISHED}`);
      output.line(`next: cd ${args[0] ?? "."} && ${NEXT[plan.language]}`);
    }
    return EXIT.ok;
  },
};
