// What runs in a thread of the pool: it imports the module a task names, calls its `run` and answers. One task at a time;
// a task that takes too long is ended together with the thread, so nothing here needs to watch the time.

import { parentPort } from "node:worker_threads";
import { understandError } from "@toolplane/protocol";
import type { ThreadAnswer, ThreadQuestion } from "./thread-words.ts";

interface Work {
  readonly run: (input: unknown) => unknown;
}

const answerOf = async ({ module, input }: ThreadQuestion): Promise<ThreadAnswer> => {
  try {
    const work = (await import(module)) as Work;
    return { output: await work.run(input) };
  } catch (error) {
    const { code, message, detail } = understandError(error);
    return { error: { code, message, detail } };
  }
};

parentPort?.on("message", (question: ThreadQuestion) => {
  void answerOf(question).then((answer) => parentPort?.postMessage(answer));
});
parentPort?.postMessage("ready");
