// The caller's process of every contestant: opens what the module says and puts load on it when the harness asks.

import { answerLines, type ProgramConfig, readConfig, say } from "./conversation.ts";
import { type LoadOrder, runLoad } from "./load.ts";

export interface Caller {
  /** One call from asking to the result; throws when it did not succeed. */
  call(): Promise<void>;
  close(): Promise<void>;
}

type CallerModule = Readonly<Record<string, ((config: ProgramConfig) => Promise<Caller>) | undefined>>;

const config = readConfig();
const { opens = "openCaller" } = config;
const open = ((await import(config.module)) as CallerModule)[opens];
if (open === undefined) throw new RangeError(`${config.module} has no ${opens}`);
const caller = await open(config);
let answered = 0;
const call = async (): Promise<void> => {
  await caller.call();
  answered++;
};
say({ ready: true });
await answerLines(async (order) => {
  if ((order as { readonly end?: boolean }).end !== true) return runLoad(call, order as LoadOrder);
  await caller.close();
  say({ calls: answered });
  return undefined;
});
// Timers and connections that a library leaves behind must not keep the process.
process.exit(0);
