// A Redis for one contestant with an append-only file, asked over its own protocol: two commands need no client library.

import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { findFreePort } from "@toolplane/processes";
import type { StoreCounts } from "../contestant.ts";
import { startLoopbackServer } from "./loopback-server.ts";

export type AppendSync = "always" | "everysec";

export const findRedisMissing = (): string | undefined => {
  try {
    execFileSync("redis-server", ["--version"]);
    return undefined;
  } catch {
    return "redis-server is not on PATH (on Debian: apt-get install redis-server)";
  }
};

/** One inline command, and what came back until `isWhole`. */
const askRedis = (port: number, command: string, isWhole: (answer: string) => boolean): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => void socket.write(`${command}\r\n`));
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      answer += chunk;
      if (!isWhole(answer)) return;
      socket.destroy();
      resolve(answer);
    });
    socket.once("error", reject);
  });

/** `$<length>\r\n<text>\r\n`; the text of INFO is ASCII. */
const isWholeText = (answer: string): boolean => {
  const begin = answer.indexOf("\r\n") + 2;
  return begin > 1 && answer.length >= begin + Number(answer.slice(1, begin)) + 2;
};

export const parseInfo = (answer: string, name: string): number =>
  Number(
    answer
      .split("\r\n")
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1),
  );

export interface RedisStore extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly description: string;
  readCounts(): Promise<StoreCounts>;
  countMembers(sortedSet: string): Promise<number>;
}

export const openRedis = async (appendSync: AppendSync): Promise<RedisStore> => {
  const port = await findFreePort();
  const server = await startLoopbackServer({
    label: "redis-server",
    port,
    argv: (directory) => [
      "redis-server",
      ...["--bind", "127.0.0.1", "--port", String(port), "--dir", directory],
      ...["--appendonly", "yes", "--appendfsync", appendSync, "--save", "", "--maxmemory-policy", "noeviction"],
    ],
  });
  const version = /v=(\S+)/.exec(execFileSync("redis-server", ["--version"], { encoding: "utf8" }))?.[1] ?? "";
  return {
    pid: server.pid,
    port,
    description: `Redis ${version} (appendonly yes, appendfsync ${appendSync})`,
    async readCounts() {
      const info = await askRedis(port, "INFO everything", isWholeText);
      return {
        statements: parseInfo(info, "total_commands_processed"),
        bytes: parseInfo(info, "aof_current_size"),
      };
    },
    async countMembers(sortedSet) {
      const answer = await askRedis(port, `ZCARD ${sortedSet}`, (text) => text.endsWith("\r\n"));
      return Number(answer.slice(1));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};
