// Our own two sides: the supervisor with its default limits (but for patience and the number in flight, which is what a cell
// is about), and toolplane-host as its one process.

import { fileURLToPath } from "node:url";
import { createToolHost, type ExecuteResult } from "@toolplane/bridges";
import { ToolplaneError } from "@toolplane/protocol";
import type { Pair, PairKind } from "./pair.ts";

/** The most that a cell has in flight: with the default of 64 the rest would wait in the supervisor. */
const IN_FLIGHT = 256;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const check = ({ outcome }: ExecuteResult): void => {
  if (outcome.status !== "success") throw new ToolplaneError("internal_error", outcome.error.message);
};

const open = async (): Promise<Pair> => {
  const host = createToolHost({
    name: "bench",
    command: ["node", `${ROOT}bin/toolplane-host.mjs`, `${ROOT}bench/hosts/echo-plugin.ts`],
    cwd: ROOT,
    // On a busy machine a start may take longer than a second, and a large call longer than half a minute: neither is measured.
    limits: { helloMs: 10_000, callMs: 300_000, inFlight: IN_FLIGHT },
  });
  const { pid, initState: state } = await host.start();
  return {
    name: "toolplane",
    childPid: pid,
    call: (text) => host.execute({ toolName: "echo", arguments: { text }, state }).then(check),
    [Symbol.asyncDispose]: () => host.close(),
  };
};

export const ours: PairKind = { name: "toolplane", open };
