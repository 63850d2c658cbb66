// NATS beside the database: one connection for what this process does there by itself, and one for the requests of tool services.
// The client library is loaded only when there is somewhere to connect to.
//   NO1. A server that cannot be used at the start gives one sentence with the host and what to do, never with secrets of the
//       URL.
//   NO2. When a server goes away later, the link reconnects for as long as it takes, and logs both.
//   NO3. NATS cuts off a reader that leaves too much unread. Services decide how much they send to the gateway, so the gateway
//       reads on a connection of its own: a flood there cuts no wakeup, event or durable of this process.

import { readFileSync } from "node:fs";
import type { NatsBus, NatsLink, NatsOptions } from "@toolplane/bus/nats";
import { type Carrier, inTime, LATE, type Log, systemClock, type TargetKey } from "@toolplane/engine";
import { isToolplaneError, ToolplaneError, UsageError } from "@toolplane/protocol";
import { pmoCommandSubscription, tryToolCommandSubscription } from "@toolplane/protocol/agents";
import type { BusSetting } from "../config/bus-setting.ts";
import { refuseConfig } from "../config/refuse.ts";

export interface PlaneBus {
  readonly link: NatsLink;
  /** False while one of the connections is away. */
  connected(): boolean;
  /** Connects once more, for the requests of tool services; `close` ends this connection too. */
  openGatewayLink(): Promise<NatsLink>;
  /** For the engine of this plane, which closes what it opened. Nothing is made on NATS before the engine asks for it. */
  carrierFor(plane: () => Promise<string>): Carrier;
  /** How many fetches of a pair's services are open; undefined when the server does not say. */
  waiting(served: TargetKey): Promise<number | undefined>;
  /** Closed after the engine, because it carries the engine's last messages. */
  close(): Promise<void>;
}

const readText = (path: string | undefined, what: string): string | undefined => {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : "it cannot be read";
    throw refuseConfig(`${what} for NATS: ${path}: ${why}`, cause);
  }
};

/** The addresses, each with the password of its user. */
const withPassword = (urls: string, password: string | undefined): string =>
  password === undefined
    ? urls
    : urls
        .split(",")
        .map((address) => {
          const url = new URL(address);
          url.password = encodeURIComponent(password);
          return url.href;
        })
        .join(",");

const readPassword = (path: string | undefined): string | undefined => {
  const password = readText(path, "the password")?.replace(/\r?\n$/u, "");
  if (password === "") throw refuseConfig(`the password for NATS: ${path}: the file is empty`);
  return password;
};

/** Reads the files that the setting names. Faults in them are reported before any connection is tried. */
export const readNatsOptions = (setting: BusSetting, name: string): NatsOptions => {
  const ca = readText(setting.ca, "the certificate authority");
  const cert = readText(setting.cert, "the certificate");
  const key = readText(setting.key, "the key");
  return {
    url: withPassword(setting.url, readPassword(setting.passwordFile)),
    name,
    credentials: readText(setting.credentials, "the credentials"),
    inboxPrefix: setting.inboxPrefix,
    ...(ca === undefined && cert === undefined ? {} : { tls: { ca, cert, key } }),
  };
};

const WHERE = "the address is --nats-url; without it the database carries everything";

const AWAY: readonly unknown[] = ["disconnected", "timeout", "no_answer"];

/** While a stack starts, only NATS raises these. */
const FROM_NATS: readonly string[] = ["upstream_unavailable", "auth_failed"];

/**
 * The adapter's sentence says what is wrong; this adds where to correct it. NATS that goes away during the start ends the start,
 * like NATS that was never there; nothing is retried.
 */
export const explainStart = (error: unknown): unknown => {
  if (!isToolplaneError(error) || !FROM_NATS.includes(error.code)) return error;
  const isAway = AWAY.includes(error.detail?.reason);
  const message = isAway ? "NATS went away or stopped answering during the start" : error.message;
  const todo = isAway ? `see that it runs, then start again; ${WHERE}` : WHERE;
  return new ToolplaneError(error.code, message, { detail: { todo, ...error.detail }, cause: error });
};

/** The same for what only the opening of the bus can find: a wrong setting, a stream of another shape. */
const explain = (error: unknown): unknown => {
  if (error instanceof UsageError) return refuseConfig(error.message, error);
  if (!isToolplaneError(error) || error.code !== "conflict") return explainStart(error);
  return new ToolplaneError(error.code, error.message, { detail: { ...error.detail, todo: WHERE }, cause: error });
};

/** Makes a durable that the engine needs anyway: this shows that JetStream is there and that we may use it. */
const { durable, pattern } = pmoCommandSubscription();
const FIRST_DURABLE = { durable, pattern: pattern.text };

/** Short, because a person waits for the answer, and this is only one fact of it. */
const COUNT_MS = 1_000;

const countWaiting = async (bus: NatsBus, { projectId, target }: TargetKey): Promise<number | undefined> => {
  const subscription = tryToolCommandSubscription(projectId, target);
  if (subscription === undefined) return undefined;
  const asked = bus.waitingAt(subscription.durable).catch(() => undefined);
  const counted = await inTime(systemClock, COUNT_MS, asked);
  return counted === LATE ? undefined : counted;
};

export interface OpenBusOptions {
  readonly nats: NatsOptions;
  readonly replicas: number | undefined;
  /** A command that no service took within this time is published again; undefined: the engine's default. */
  readonly republishSeconds: number | undefined;
  readonly log: Log;
}

export const openBus = async ({ nats, replicas, republishSeconds, log }: OpenBusOptions): Promise<PlaneBus> => {
  const { openNatsLink, createNatsBus } = await import("@toolplane/bus/nats");
  const links: NatsLink[] = [];
  const connect = async (name: string): Promise<NatsLink> => {
    const link = await openNatsLink({ ...nats, name }, { log }).catch((error: unknown) => {
      throw explain(error);
    });
    links.push(link);
    return link;
  };
  const link = await connect(nats.name);
  let bus: NatsBus | undefined;
  /** Only after checking that no other plane is here: then streams get our settings, and leftovers of a gone plane are ours. */
  const settle = async (plane: string): Promise<void> => {
    const first = createNatsBus({ link, bury: async () => undefined, log, replicas, plane });
    try {
      const taken = await first.takeOver();
      if (taken.length > 0) log.warn("durables of a plane that no longer runs were taken over", { durables: taken });
      await first.ensureDurables([FIRST_DURABLE]);
    } catch (error) {
      throw explain(error);
    } finally {
      await first.close();
    }
  };
  return {
    link,
    connected: () => links.every((each) => each.connected()),
    openGatewayLink: () => connect(`${nats.name}, gateway`),
    carrierFor(readPlane) {
      let plane: string | undefined;
      return {
        async prepare() {
          plane = await readPlane();
          await settle(plane);
        },
        open({ bury, log: busLog }) {
          bus = createNatsBus({ link, bury, log: busLog, replicas, plane });
          return bus;
        },
        republishSeconds,
      };
    },
    waiting: async (served) => bus && countWaiting(bus, served),
    close: async () => void (await Promise.all(links.map((each) => each.close()))),
  };
};
