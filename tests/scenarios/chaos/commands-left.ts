// What NATS still holds when all is quiet: a command whose call has settled is taken out by somebody, soon.

import { setTimeout as delay } from "node:timers/promises";
import { openBareNats } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";

const ASK_MS = 5_000;
/** What a killed process had fetched comes back after 30 s, and all durables are looked at every minute or so. */
const PATIENCE_MS = 150_000;
const POLL_MS = 250;

export const countCommandsLeft = async (natsUrl: string): Promise<number> => {
  const bare = await openBareNats({ url: natsUrl, name: "chaos" }, { log: silentLog });
  try {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const { payload } = await bare.ask("$JS.API.STREAM.INFO.cg_cmd_v1r4", "", { timeoutMs: ASK_MS });
      const { state } = JSON.parse(payload) as { readonly state?: { readonly messages: number } };
      const left = state?.messages ?? Number.NaN;
      if (left === 0 || performance.now() > deadline) return left;
      await delay(POLL_MS);
    }
  } finally {
    await bare.close();
  }
};
