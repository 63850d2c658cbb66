// Runs the command line. In this very process: a second one would cost memory, and signals would need relaying.

import { exitNow, importProgram, keepCompiledCode } from "@toolplane/sdk/launching";

const SOURCE = new URL("../src/cli/main.ts", import.meta.url);
const BUILT = new URL("../dist/cli/main.js", import.meta.url);

/**
 * @param {readonly string[]} argv
 * @param {() => Promise<{ main: (argv: readonly string[]) => Promise<number> }>} load
 */
export const launch = async (argv, load = () => importProgram(SOURCE, BUILT)) => {
  // Node opens its debugger on this signal, and with it everything we know: a tool host of our own user may send it.
  process.on("SIGUSR1", () => undefined);
  keepCompiledCode();
  const { main } = await load();
  const code = await main(argv);
  // What was written must leave first; then nothing that is still open may keep the process.
  process.stdout.write("", () => exitNow(code));
};
