// Asks the gateway on NATS for as long as it is told, with so many requests in hand at any time, and then says how they were answered.
// argv: address, requests in hand, milliseconds.

import { openNatsLink } from "@toolplane/bus/nats";
import { HEADERS, isToolplaneError } from "@toolplane/protocol";
import { silentLog } from "@toolplane/sdk";

const [url = "", inHand = "0", ms = "0"] = process.argv.slice(2);

const LINKS = 8;
/** A request of a service: it reads the call from the database before it is answered. */
const SUBJECT = "cg.v1r4.demo.public.rpc.gateway.test.heartbeat";
const PAUSE_MS = 20;

const links = await Promise.all(
  Array.from({ length: LINKS }, (_, n) => openNatsLink({ url, name: `flood ${n}` }, { log: silentLog })),
);
const end = performance.now() + Number(ms);
const answers: Record<string, number> = {};

const ask = async (n: number): Promise<string> => {
  const headers = { [HEADERS.toolCallId]: `none-${n}`, [HEADERS.turnId]: "none" };
  try {
    const message = { subject: SUBJECT, headers, payload: '{"lease":"none"}' };
    const { payload } = (await links[n % LINKS]?.request(message, { timeoutMs: 30_000 })) ?? { payload: "{}" };
    return (JSON.parse(payload) as { error?: { code?: string } }).error?.code ?? "ok";
  } catch (error) {
    return isToolplaneError(error) ? `no answer: ${String(error.detail?.reason ?? error.code)}` : String(error);
  }
};

await Promise.all(
  Array.from({ length: Number(inHand) }, async (_, n) => {
    while (performance.now() < end) {
      const answer = await ask(n);
      answers[answer] = (answers[answer] ?? 0) + 1;
      if (answer === "rate_limited") await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }),
);
process.stdout.write(`${JSON.stringify(answers)}\n`);
await Promise.all(links.map((link) => link.close()));
