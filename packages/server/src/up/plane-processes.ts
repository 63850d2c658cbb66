// The processes of one plane: every `up` names its database connections after its roles, so each process can see the others.
// Nothing is stored: a killed process disappears with its connections.

import type { Log, TargetKey } from "@toolplane/engine";
import pg from "pg";
import { UP_ROLES, type UpRole } from "../config/settings.ts";
import { READ_NAMES } from "./plane-processes.sql.ts";

export type PlaneBusName = "postgres" | "nats";

export interface PlaneProcess {
  readonly pid: number;
  readonly host: string;
  readonly roles: readonly UpRole[];
  /** What carries its messages. */
  readonly bus: PlaneBusName;
}

export interface PlaneProcesses {
  /** This process and all others; undefined when the database cannot say (a pooler in between renames connections). */
  list(): Promise<readonly PlaneProcess[] | undefined>;
  /** NATS carries the messages, and this process has no connection to it. */
  busAway(): boolean;
  /** The plane was started without NATS: the database carries the messages. Left out: it cannot be known. */
  noNats?(): boolean;
  /** How many questions for commands of a target wait on NATS; undefined when that cannot be known. */
  waitingOnBus?(served: TargetKey): Promise<number | undefined>;
}

const PREFIX = "toolplane runs ";
/** The longest name that PostgreSQL keeps; a long host name is cut, and only people read it. */
const MAX_NAME_LENGTH = 63;
const CONNECT_TIMEOUT_MS = 2_000;

export const nameProcess = ({ pid, host, roles, bus }: PlaneProcess): string =>
  `${PREFIX}${roles.join(",")} ${bus} ${pid} ${host}`.slice(0, MAX_NAME_LENGTH);

export const tryParseProcess = (name: string): PlaneProcess | undefined => {
  if (!name.startsWith(PREFIX)) return undefined;
  const [roles = "", bus = "", pid = "", host = ""] = name.slice(PREFIX.length).split(" ");
  const known = UP_ROLES.filter((role) => roles.split(",").includes(role));
  if (known.length === 0 || (bus !== "postgres" && bus !== "nats")) return undefined;
  return { pid: Number(pid), host, roles: known, bus };
};

export const describeProcess = ({ pid, host }: PlaneProcess): string => `process ${pid} on ${host}`;

/** A process whose messages travel over another bus: each hears the other's messages late or not at all. */
export const findOtherBus = (self: PlaneProcess, processes: readonly PlaneProcess[] = []): PlaneProcess | undefined =>
  processes.find(({ bus }) => bus !== self.bus);

/** A process with an embedded database is alone. */
export const aloneWith = (self: PlaneProcess, busAway: () => boolean): PlaneProcesses => ({
  list: async () => [self],
  busAway,
});

/** Unknown: explanations then leave other processes out. */
export const UNKNOWN_PROCESSES: PlaneProcesses = { list: async () => undefined, busAway: () => false };

export interface PlaneProcessesOptions {
  readonly connection: pg.ClientConfig;
  readonly self: PlaneProcess;
  readonly busAway: () => boolean;
  readonly log: Log;
}

export const createPlaneProcesses = ({ connection, self, busAway, log }: PlaneProcessesOptions): PlaneProcesses => {
  const read = async (): Promise<readonly PlaneProcess[] | undefined> => {
    const client = new pg.Client({
      ...connection,
      application_name: "toolplane looks",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ readonly name: string }>(READ_NAMES);
      const found = rows.flatMap(({ name }) => tryParseProcess(name) ?? []);
      const isHere = found.some(({ pid, roles }) => pid === self.pid && roles.join() === self.roles.join());
      return isHere ? found : undefined;
    } finally {
      await client.end().catch(() => {});
    }
  };
  return {
    busAway,
    async list() {
      try {
        return await read();
      } catch (error) {
        log.warn("the other processes of this plane could not be listed", { reason: String(error) });
        return undefined;
      }
    },
  };
};
