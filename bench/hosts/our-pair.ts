// Our own two sides: the supervisor with its default limits (but for patience), and toolplane-host as its one process.

import { fileURLToPath } from "node:url";
import { createToolHost } from "@toolplane/bridges";
import { ToolplaneError } from "@toolplane/protocol";
import type { Pair, PairKind } from "./pair.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const open = async (): Promise<Pair> => {
  const host = createToolHost({
    name: "bench",
    command: ["node", `${ROOT}bin/toolplane-host.mjs`, `${ROOT}bench/hosts/echo-plugin.ts`],
    cwd: ROOT,
    // On a busy machine a start may take longer than a second, and a large call longer than half a minute: neither is measured.
    limits: { helloMs: 10_000, callMs: 300_000 },
  });
  const { pid, initState: state } = await host.start();
  return {
    name: "toolplane",
    childPid: pid,
    async call(text) {
      const { outcome } = await host.execute({ toolName: "echo", arguments: { text }, state });
      if (outcome.status !== "success") throw new ToolplaneError("internal_error", outcome.error.message);
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
};

export const ours: PairKind = { name: "toolplane", open };
