// What a command may use of the outside world: streams, environment, files, time, network. It is passed in, so that a test can
// play the terminal. A program that passes only what `up` needs gets the real rest.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { systemClock } from "@toolplane/bus/ports";
import { createHttpPool, type HttpPool } from "@toolplane/sdk/client";
import { processIo, type UpIo } from "../up/up-options.ts";

export interface CliStream {
  write(text: string): unknown;
  /** A person looks at it: colours and progress may be shown. */
  readonly isTTY?: boolean | undefined;
}

export interface CliIo extends UpIo {
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  /** Connections to a server. */
  openPool(url: string): HttpPool;
  readFile(path: string): Promise<string>;
  readStdin(): Promise<string>;
  /** The lines of stdin as they come. */
  readLines(): AsyncIterable<string>;
  now(): number;
  uuid(): string;
  /** Ends early, and quietly, when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const readStdin = async (): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
};

/** A pipe and a terminal that were closed. */
const READER_GONE: ReadonlySet<string | undefined> = new Set(["EPIPE", "EIO"]);

/** `toolplane calls list | head` closes the pipe early: the reader has enough, and that is not a failure. */
export const endQuietlyWithReader = (stream: NodeJS.WriteStream, exit: (code: number) => void): void => {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (READER_GONE.has(error.code)) exit(0);
    else throw error;
  });
};

/** When the reader of the log has gone, the program goes on, above all while it stops. */
export const goOnWithoutReader = (stream: NodeJS.WriteStream): void => {
  stream.on("error", () => undefined);
};

export const createCliIo = (given: UpIo & Partial<CliIo> = processIo()): CliIo => ({
  openPool: (url) => createHttpPool({ url }),
  readFile: (path) => readFile(path, "utf8"),
  readStdin,
  readLines: () => createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }),
  now: systemClock.now,
  uuid: () => randomUUID(),
  sleep: systemClock.sleep,
  ...given,
});
