// Buses on one nats-server, each with a connection of its own, as separate processes would have them. Dead letters are
// kept in memory: keeping them is the engine's, and who buries is told the same.

import type { CarrierBus, LostMessage } from "@toolplane/bus";
import { createNatsBus, type NatsBusOptions, type NatsLink, type NatsOptions, openNatsLink } from "@toolplane/bus/nats";
import { type Log, silentLog } from "@toolplane/engine";
import { type CarrierHarness, startNats, type TestNats } from "@toolplane/testkit";

export interface NatsProcess {
  readonly link: NatsLink;
  readonly bus: CarrierBus;
  close(): Promise<void>;
}

export interface NatsProcessOptions
  extends Partial<Pick<NatsBusOptions, "bury" | "replicas" | "clock" | "keepCommandsMs">> {
  readonly log?: Log;
  readonly connection?: Partial<NatsOptions>;
}

export interface NatsHarness extends CarrierHarness {
  readonly server: TestNats;
  readonly lost: readonly LostMessage[];
  start(options?: NatsProcessOptions): Promise<NatsProcess>;
  /** Closes all processes that were started so far; the server stays. */
  closeProcesses(): Promise<void>;
}

/** Whose subject it is. */
const projectOf = ({ subject }: LostMessage): string | undefined => subject.split(".")[2];

export const openNatsHarness = async (given?: TestNats): Promise<NatsHarness> => {
  const server = given ?? (await startNats());
  const lost: LostMessage[] = [];
  const processes: NatsProcess[] = [];

  const start = async (options: NatsProcessOptions = {}): Promise<NatsProcess> => {
    const { log = silentLog, connection = {}, ...rest } = options;
    const link = await openNatsLink({ url: server.url, name: "test", ...connection }, { log });
    const bury = (message: LostMessage): Promise<void> => {
      if (lost.every(({ lostId }) => lostId !== message.lostId)) lost.push(message);
      return Promise.resolve();
    };
    const bus = createNatsBus({ link, log, bury, ...rest });
    const started: NatsProcess = {
      link,
      bus,
      async close() {
        await bus.close({ drainMs: 0 });
        await link.close();
      },
    };
    processes.push(started);
    return started;
  };

  const closeProcesses = async (): Promise<void> => {
    await Promise.all(processes.splice(0).map((started) => started.close()));
  };

  return {
    server,
    lost,
    closeProcesses,
    start,
    connect: async () => (await start()).bus,
    deadLetters: (projectId) => Promise.resolve(lost.filter((message) => projectOf(message) === projectId)),
    async close() {
      await closeProcesses();
      await server.stop();
    },
  };
};
