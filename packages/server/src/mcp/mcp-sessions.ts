// Sessions of clients before 2026-07-28: what such a client said about itself, the requests that the server sends it, and the
// messages it may have missed. A session is memory of one process and nothing depends on it: a client whose session is not known
// here is served without one, and its calls are where they were.
//   - A session belongs to one token and one project; its id alone opens nothing.
//   - Sessions are bounded in number and age; the one that was idle longest goes first.

import { randomUUID } from "node:crypto";
import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { createRecent, systemClock } from "@toolplane/engine";
import { createEventStores, type SessionEvents } from "./event-store.ts";

export interface McpSession {
  readonly id: string;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly events: SessionEvents;
  usedAt: number;
}

export interface McpSessions {
  /** A new session; its id goes to the client with the answer to its first request. */
  open(owner: string, makeServer: () => McpServer): Promise<McpSession>;
  find(owner: string, id: string): McpSession | undefined;
  /** Whether the client has ended it. */
  hasEnded(owner: string, id: string): boolean;
  close(owner: string, id: string): Promise<void>;
}

const MAX_PER_OWNER = 64;
const MAX_IN_ALL = 1_024;
const IDLE_MS = 3_600_000;
const MAX_ENDED = 1_024;

export const createMcpSessions = (keepAliveMs: number): McpSessions => {
  const sessions = new Map<string, McpSession>();
  const stores = createEventStores();
  const ended = createRecent<true>(MAX_ENDED);
  const keyOf = (owner: string, id: string): string => `${owner} ${id}`;

  const drop = async (key: string): Promise<void> => {
    const session = sessions.get(key);
    if (session === undefined) return;
    sessions.delete(key);
    session.events[Symbol.dispose]();
    await session.server.close().catch(() => undefined);
  };

  /** Oldest first: a session is put back at the end when it is used. */
  const makeRoom = async (owner: string): Promise<void> => {
    const now = systemClock.now();
    const own = [...sessions].filter(([key]) => key.startsWith(`${owner} `));
    const idle = [...sessions].filter(([, { usedAt }]) => now - usedAt > IDLE_MS);
    const tooMany = own.slice(0, Math.max(0, own.length - MAX_PER_OWNER + 1));
    const crowd = [...sessions].slice(0, Math.max(0, sessions.size - MAX_IN_ALL + 1));
    for (const [key] of new Map([...idle, ...tooMany, ...crowd])) await drop(key);
  };

  return {
    async open(owner, makeServer) {
      await makeRoom(owner);
      const id = randomUUID();
      const server = makeServer();
      const events = stores.open();
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => id,
        eventStore: events,
        keepAliveMs,
      });
      await server.connect(transport);
      const session: McpSession = { id, server, transport, events, usedAt: systemClock.now() };
      sessions.set(keyOf(owner, id), session);
      return session;
    },
    find(owner, id) {
      const key = keyOf(owner, id);
      const session = sessions.get(key);
      if (session === undefined) return undefined;
      session.usedAt = systemClock.now();
      sessions.delete(key);
      sessions.set(key, session);
      return session;
    },
    hasEnded: (owner, id) => ended.has(keyOf(owner, id)),
    async close(owner, id) {
      ended.set(keyOf(owner, id), true);
      await drop(keyOf(owner, id));
    },
  };
};
