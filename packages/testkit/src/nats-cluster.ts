// Three nats-servers that are one cluster on the loopback, each to be killed, started again or emptied by itself.

import { setTimeout as delay } from "node:timers/promises";
import { silentLog } from "@toolplane/bus/ports";
import { findFreePort } from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";
import { type NatsOptions, startNats, type TestNats } from "./nats.ts";

export interface TestNatsCluster extends AsyncDisposable {
  /** All addresses, as a client is given them. */
  readonly url: string;
  readonly nodes: readonly TestNats[];
  /** The node that leads a stream now. */
  leaderOf(stream: string): Promise<TestNats>;
  /** Resolves when the cluster has a leader and answers. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const NODES = 3;
const READY_TIMEOUT_MS = 60_000;
const ASK_MS = 1_000;
const POLL_MS = 100;

type Answer = { readonly error?: unknown; readonly cluster?: { readonly leader?: string } };

/** As `startNats` names its servers. */
const nameOf = ({ port }: TestNats): string => `test-${port}`;

/** The answer of whichever node is there; undefined when none could say. */
const tryAsk = async (url: string, verb: string): Promise<Answer | undefined> => {
  // Loaded here, so that only tests with a cluster load the client.
  const { openBareNats } = await import("@toolplane/bus/nats");
  try {
    const bare = await openBareNats({ url, name: "test cluster" }, { log: silentLog });
    try {
      const { payload } = await bare.ask(`$JS.API.${verb}`, "", { timeoutMs: ASK_MS });
      const answer = JSON.parse(payload) as Answer;
      return answer.error === undefined ? answer : undefined;
    } finally {
      await bare.close();
    }
  } catch {
    return undefined;
  }
};

export const startNatsCluster = async (options: NatsOptions = {}): Promise<TestNatsCluster> => {
  const routes: number[] = [];
  for (let node = 0; node < NODES; node++) routes.push(await findFreePort());
  const others = routes.map((port) => `"nats://127.0.0.1:${port}"`).join(", ");
  const nodes = await Promise.all(
    routes.map((port) => {
      const cluster = `cluster { name: "test-cluster", listen: "127.0.0.1:${port}", routes: [${others}] }`;
      return startNats({ ...options, config: `${options.config ?? ""}\n${cluster}` });
    }),
  );
  const url = nodes.map((node) => node.url).join(",");

  const until = async <T>(ask: () => Promise<T | undefined>, what: string): Promise<T> => {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      if (performance.now() > deadline) throw new ToolplaneError("upstream_unavailable", `the cluster has no ${what}`);
      await delay(POLL_MS);
    }
  };

  const leaderOf = (stream: string): Promise<TestNats> =>
    until(async () => {
      const leader = (await tryAsk(url, `STREAM.INFO.${stream}`))?.cluster?.leader;
      return nodes.find((node) => nameOf(node) === leader);
    }, `leader of ${stream}`);
  const ready = async (): Promise<void> => {
    await until(() => tryAsk(url, "INFO"), "leader");
  };
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };

  await ready().catch(async (cause: unknown) => {
    await stop();
    throw cause;
  });
  return { url, nodes, leaderOf, ready, stop, [Symbol.asyncDispose]: stop };
};
