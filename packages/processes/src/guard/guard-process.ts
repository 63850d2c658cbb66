// The guard's program: a small process in a session of its own that outlives its parent just long enough to end the parent's
// child processes.
// GD1. It learns of the parent's death from the end of its input, which the kernel delivers however the parent dies.
// GD2. Everything written before that end is read before it, so no accepted entry is lost.
// GD3. It ignores the signals that reach whole terminals and control groups; only the end of its input ends it.
// GD4. Directories are removed last: a process may still be writing into one.
// It imports nothing but Node and its neighbours, so it starts quickly and from source as well as from dist.

import { type Ending, endFamilies } from "../table/end-family.ts";
import { removeFolder } from "../table/remove-folder.ts";
import { createLineSplitter, type GuardRequest, type WatchedEntry } from "./guard-messages.ts";

const entries = new Map<number, WatchedEntry>();

const obey = (line: string): void => {
  const request = JSON.parse(line) as GuardRequest;
  const id = request.op === "watch" ? request.entry.id : request.id;
  if (request.op === "watch") entries.set(id, request.entry);
  else entries.delete(id);
  process.stdout.write(`${JSON.stringify({ op: request.op, id })}\n`);
};

const endings = (): Ending[] =>
  [...entries.values()].flatMap(({ pid, started, mark, soleUid, signal, graceMs }) =>
    pid === undefined ? [] : { leader: { pid, started, mark, soleUid }, signal, graceMs },
  );

const removeEntry = async (entry: WatchedEntry): Promise<void> => {
  if (entry.removeDir === undefined) return;
  await removeFolder(entry.removeDir, entry.soleUid);
};

const endEverything = async (): Promise<void> => {
  await endFamilies(endings());
  await Promise.allSettled([...entries.values()].map(removeEntry));
  // Nothing of ours is left to end in order, and `process.exit` may hang: Node waits there for threads that compile, and one of them
  // may wait for a collection of garbage that never comes (nodejs/node#54918).
  process.kill(process.pid, "SIGKILL");
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGUSR1", "SIGUSR2"] as const) {
  process.on(signal, () => undefined);
}
// When the parent is gone, our answers have no reader.
process.stdout.on("error", () => undefined);
process.stdin.setEncoding("utf8");
process.stdin.on("data", createLineSplitter(obey));
process.stdin.once("error", () => void endEverything());
process.stdin.once("end", () => void endEverything());
