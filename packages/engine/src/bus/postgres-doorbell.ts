// The doorbell over LISTEN / NOTIFY: one connection that hears the other processes and rings for them.
//   DB1. A ring is told to the listeners of this process directly, as `here`, before anything is sent.
//   DB2. It is sent as one empty NOTIFY, on the listening connection itself: the server then names this connection as
//       the sender and its own ring is not told a second time.
//   DB3. At most one statement is on its way (the driver takes one at a time); rings meanwhile, and rings of one moment, leave
//       together, one NOTIFY per kind.
//   DB4. A lost connection is made again with growing pauses. Then every listener is told (`elsewhere`: rings may have
//       been missed) and what could not be sent is sent. Nothing of this ever throws out of `ring`.
//   DB5. A process that is alone on its database sends nothing. A process that connects says `hello`, and the other
//       processes answer `present`. A process that hears no answer for a while takes itself for alone until it hears another
//       one. Then it rings once for every kind, because it kept its rings to itself, and goes on ringing. An answer that came
//       too late therefore costs time, no work (I13). A process that hears `hello` tells its own listeners, because the
//       newcomer may have been alone before; it rings for all kinds only if it was alone itself.

import { type Backoff, backoff } from "@toolplane/protocol";
import type pg from "pg";
import { DOORBELL_KINDS, type Doorbell, type DoorbellKind, type RingOrigin, type RingTo } from "../ports/doorbell.ts";
import type { Ground } from "../ports/ground.ts";
import type { Database } from "../sql/database.ts";
import { channelOf, GREETINGS, kindOf, NOTIFY, START_LISTENING } from "./doorbell.sql.ts";

/** In addition to the engine's rings, those of the bus's lossy streams: they must not wake listeners for messages. */
export type RingKind = DoorbellKind | "streams";

const RING_KINDS: readonly RingKind[] = [...DOORBELL_KINDS, "streams"];

type Greeting = (typeof GREETINGS)[number];

const isGreeting = (word: string): word is Greeting => GREETINGS.some((known) => known === word);

export interface DoorbellStats {
  readonly connected: boolean;
  /** No other process is known to listen: rings stay here. */
  readonly alone: boolean;
  readonly connections: number;
  readonly rings: number;
  readonly sent: number;
  readonly heard: number;
}

export interface BusDoorbell extends Doorbell {
  ring(kind: RingKind, to?: RingTo): void;
  listen(kind: RingKind, heard: (from: RingOrigin) => void): () => void;
  stats(): DoorbellStats;
}

export interface PostgresDoorbellOptions extends Pick<Ground, "clock" | "log"> {
  readonly db: Pick<Database, "connect">;
}

/** The longest pause is as long as the slow look of the listeners: a longer one would delay them more. */
const PAUSE_MS: Backoff = { first: 50, longest: 5_000 };

/** Another process answers within milliseconds, or when it has finished what keeps it busy. */
const ANSWER_MS = 1_000;

/** A NOTIFY takes well under a millisecond; a connection that is silent this long is dead. */
const NOTIFY_TIMEOUT_MS = 5_000;

/** A field of `pg` that its types leave out: the server process of a connection. */
const backendOf = (client: pg.Client): number | null => (client as pg.Client & { processID: number | null }).processID;

export const createPostgresDoorbell = ({ db, clock, log }: PostgresDoorbellOptions): BusDoorbell => {
  const listeners = new Map<RingKind, Set<(from: RingOrigin) => void>>(RING_KINDS.map((kind) => [kind, new Set()]));
  const unsent = new Set<RingKind | Greeting>();
  const closing = new AbortController();
  let line: pg.Client | undefined;
  let sending: Promise<void> | undefined;
  let connecting = false;
  let away = false;
  let alone = false;
  let sendSoon = false;
  let greeting = new AbortController();
  let connections = 0;
  let rings = 0;
  let sent = 0;
  let heardCount = 0;

  const tell = (kind: RingKind, from: RingOrigin): void => {
    for (const heard of listeners.get(kind) ?? []) {
      try {
        heard(from);
      } catch (error) {
        log.error("a listener of the doorbell threw an error; the other listeners were rung", {
          kind,
          cause: String(error),
        });
      }
    }
  };

  const hangUp = (client: pg.Client): Promise<void> => client.end().catch(() => {});

  const send = (): void => {
    const client = line;
    sendSoon = false;
    if (client === undefined || sending !== undefined || unsent.size === 0) return;
    const kinds = [...unsent];
    unsent.clear();
    const query = { ...NOTIFY, values: [kinds.map(channelOf)], query_timeout: NOTIFY_TIMEOUT_MS };
    sending = client
      .query(query)
      .then(
        () => {
          sent += kinds.length;
        },
        () => {
          for (const kind of kinds) unsent.add(kind);
          if (line === client) line = undefined;
          void hangUp(client);
        },
      )
      .finally(() => {
        sending = undefined;
        send();
      });
  };

  const tellAll = (): void => {
    for (const kind of RING_KINDS) tell(kind, "elsewhere");
  };

  /** Another process is there. Both sides look for what they did not ring for. */
  const meet = (word: Greeting): void => {
    greeting.abort();
    if (word === "hello") unsent.add("present");
    if (alone) for (const kind of RING_KINDS) unsent.add(kind);
    const keptToItself = alone || word === "hello";
    alone = false;
    if (keptToItself) tellAll();
    send();
  };

  const greet = async (): Promise<void> => {
    greeting.abort();
    const answered = new AbortController();
    greeting = answered;
    alone = false;
    unsent.add("hello");
    send();
    await clock.sleep(ANSWER_MS, AbortSignal.any([answered.signal, closing.signal]));
    if (!answered.signal.aborted && !closing.signal.aborted) alone = true;
  };

  const hearOthers = (client: pg.Client): void => {
    client.on("notification", ({ channel, processId }) => {
      if (processId === backendOf(client)) return;
      const word = kindOf(channel);
      if (isGreeting(word)) return meet(word);
      const kind = RING_KINDS.find((known) => known === word);
      if (kind === undefined) return;
      heardCount++;
      tell(kind, "elsewhere");
    });
  };

  /** Resolves when the connection is gone; rejects when it could not be made. */
  const holdLine = async (): Promise<void> => {
    connecting = true;
    const client = await db.connect().finally(() => {
      connecting = false;
    });
    const gone = new Promise<void>((resolve) => client.once("end", resolve));
    try {
      hearOthers(client);
      await client.query(START_LISTENING);
      // Closed meanwhile: without this, the connection would stay open.
      if (closing.signal.aborted) return;
      line = client;
      connections++;
      if (away) log.info("the connection that hears the database's bells is back");
      away = false;
      void greet();
      tellAll();
      await gone;
    } finally {
      if (line === client) line = undefined;
      await hangUp(client);
    }
  };

  const keepLine = async (): Promise<void> => {
    let failures = 0;
    while (!closing.signal.aborted) {
      const before = connections;
      await holdLine().catch(() => {});
      if (connections > before) failures = 0;
      if (closing.signal.aborted) return;
      if (!away)
        log.warn(
          "the connection that hears the database's bells is lost; this process connects again until it succeeds",
        );
      away = true;
      await clock.sleep(backoff(PAUSE_MS, ++failures), closing.signal);
    }
  };

  const kept = keepLine();

  return {
    ring(kind, to = "everywhere") {
      if (closing.signal.aborted) return;
      rings++;
      if (to !== "elsewhere") tell(kind, "here");
      if (alone || to === "here") return;
      unsent.add(kind);
      if (sendSoon) return;
      sendSoon = true;
      queueMicrotask(send);
    },
    listen(kind, heard) {
      // Two listeners may be the same function; each is its own entry.
      const entry = (from: RingOrigin): void => {
        heard(from);
      };
      listeners.get(kind)?.add(entry);
      return () => {
        listeners.get(kind)?.delete(entry);
      };
    },
    stats: () => ({ connected: line !== undefined, alone, connections, rings, sent, heard: heardCount }),
    async close() {
      closing.abort();
      send();
      // The last rings are still sent: another process may be waiting for what this one did before it stopped.
      while (sending !== undefined) await sending;
      if (line !== undefined) await hangUp(line);
      // An attempt to connect may take long; it ends by itself.
      if (!connecting) await kept;
    },
  };
};
