// What NATS still holds when all is quiet: a command whose call has settled is taken out by somebody, soon.

import { setTimeout as delay } from "node:timers/promises";
import { openBareNats } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";

const ASK_MS = 5_000;
/** What a killed process had fetched comes back after 30 s, and all durables are looked at every minute or so. */
const PATIENCE_MS = 150_000;
const POLL_MS = 250;

/** `open`: commands that a durable has yet to deliver, or that are not acknowledged. `stored`: also those that are done. */
export type CommandsCounted = "open" | "stored";

interface StreamInfo {
  readonly state?: { readonly messages: number };
}

interface ConsumerList {
  readonly consumers?: readonly { readonly num_pending: number; readonly num_ack_pending: number }[];
}

type Ask = (subject: string, payload: string) => Promise<unknown>;

const QUESTIONS: Readonly<Record<CommandsCounted, (ask: Ask) => Promise<number>>> = {
  stored: async (ask) =>
    ((await ask("$JS.API.STREAM.INFO.cg_cmd_v1r4", "")) as StreamInfo).state?.messages ?? Number.NaN,
  open: async (ask) => {
    const { consumers } = (await ask("$JS.API.CONSUMER.LIST.cg_cmd_v1r4", '{"offset":0}')) as ConsumerList;
    return consumers?.reduce((sum, one) => sum + one.num_pending + one.num_ack_pending, 0) ?? Number.NaN;
  },
};

/** Commands that are done leave the stream two minutes later: only a long run waits for that. */
export const countCommandsLeft = async (natsUrl: string, counted: CommandsCounted): Promise<number> => {
  const bare = await openBareNats({ url: natsUrl, name: "chaos" }, { log: silentLog });
  const ask: Ask = async (subject, payload) =>
    JSON.parse((await bare.ask(subject, payload, { timeoutMs: ASK_MS })).payload) as unknown;
  try {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const left = await QUESTIONS[counted](ask);
      if (left === 0 || performance.now() > deadline) return left;
      await delay(POLL_MS);
    }
  } finally {
    await bare.close();
  }
};
