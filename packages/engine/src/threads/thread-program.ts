// The program of a thread: imports the module that a task names, calls its `run` and answers. One task at a time. A task that
// takes too long is ended together with the thread, so no clock is needed here.

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
