// Runs the host.

import { fileURLToPath } from "node:url";
import { importProgram, keepCompiledCode } from "./launching.mjs";
import { moveStdio } from "./move-stdio.mjs";

const PROGRAM = fileURLToPath(new URL("./toolplane-host.mjs", import.meta.url));
const SOURCE = new URL("../src/host/main.ts", import.meta.url);
const BUILT = new URL("../dist/host/main.js", import.meta.url);

/** @param {readonly string[]} args */
export const launch = async (args) => {
  const { argv, moved } = moveStdio(PROGRAM, args);
  keepCompiledCode();
  const { main } = await importProgram(SOURCE, BUILT);
  await main(argv, moved);
};
