// A bad network between an engine and its database: a proxy that can cut a connection at a chosen moment of a chosen
// statement, fall silent, or lead to a server that came back elsewhere.

import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";
import { UsageError } from "@toolplane/protocol";
import { createFrameReader, endsAnswer, endsRequest, type Frame, tryReadStatement } from "./postgres-frames.ts";

/**
 * unsent: the server never sees the request. unheard: the server gets the request and the client is gone at once, so it
 * may still be running when the client asks again. unanswered: the server has done it and the answer is lost.
 */
export const CUT_MOMENTS = ["unsent", "unheard", "unanswered"] as const;
/** silenced: nothing is cut, and nothing ever comes back on that connection. */
export type CutMoment = (typeof CUT_MOMENTS)[number] | "silenced";

export interface Cut {
  /** The name of a prepared statement, or the text of a simple query such as `commit`. */
  readonly statement: string;
  readonly moment: CutMoment;
}

export interface DatabaseProxy extends AsyncDisposable {
  /** The way through the proxy to the database of the URL it was made for. */
  readonly url: string;
  /** The next request of that statement, on any connection, is cut; resolves when it was. */
  cut(cut: Cut): Promise<void>;
  /** New connections lead to this server; the old ones are over. */
  aim(databaseUrl: string): void;
  /** How many connections are open. */
  connections(): number;
}

interface Armed {
  readonly cut: Cut;
  readonly done: () => void;
}

const socketPathOf = (databaseUrl: string): string => {
  const { searchParams } = new URL(databaseUrl.replace("@/", "@local/"));
  const host = searchParams.get("host");
  if (host === null) throw new UsageError("the proxy leads to servers on a unix socket");
  return `${host}/.s.PGSQL.${searchParams.get("port") ?? "5432"}`;
};

export const startDatabaseProxy = async (databaseUrl: string): Promise<DatabaseProxy> => {
  let target = socketPathOf(databaseUrl);
  const armed: Armed[] = [];
  const open = new Set<Socket>();

  /** Takes the oldest requested cut that matches this frame. */
  const takeCut = (frame: Frame): Armed | undefined => {
    const statement = armed.length === 0 ? undefined : tryReadStatement(frame);
    const index = armed.findIndex(({ cut }) => cut.statement === statement);
    return index < 0 ? undefined : armed.splice(index, 1)[0];
  };

  const join = (client: Socket): void => {
    const server = createConnection(target);
    const fromClient = createFrameReader(true);
    const fromServer = createFrameReader(false);
    let cutting: Armed | undefined;
    const hangUp = (): void => {
      client.destroy();
      server.destroy();
    };
    open.add(client);
    client.on("error", hangUp).on("close", () => {
      open.delete(client);
      // The server still reads what was forwarded; then it sees the end.
      server.end();
    });
    server.on("error", hangUp).on("close", () => client.destroy());

    const finishCut = (): void => {
      cutting?.done();
      cutting = undefined;
      client.destroy();
    };

    client.on("data", (chunk) => {
      for (const frame of fromClient.read(chunk)) {
        cutting ??= takeCut(frame);
        if (cutting?.cut.moment === "unsent") {
          cutting.done();
          hangUp();
          return;
        }
        server.write(frame.bytes);
        if (cutting?.cut.moment === "unheard" && endsRequest(frame)) {
          finishCut();
          return;
        }
      }
    });
    server.on("data", (chunk) => {
      if (cutting === undefined) {
        // Kept in step with the stream, so that a cut happens at the start of a frame.
        fromServer.read(chunk);
        client.write(chunk);
        return;
      }
      const ended = fromServer.read(chunk).some(endsAnswer);
      if (!ended) return;
      if (cutting.cut.moment === "silenced") cutting.done();
      else finishCut();
    });
  };

  const listener = createServer(join).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new UsageError("a TCP listener has a port");
  const through = new URL(databaseUrl.replace("@/", "@local/"));
  const url = `postgresql://${through.username}:${through.password}@127.0.0.1:${address.port}${through.pathname}`;

  return {
    url,
    cut: (cut) =>
      new Promise((done) => {
        armed.push({ cut, done });
      }),
    aim(next) {
      target = socketPathOf(next);
      for (const client of open) client.destroy();
    },
    connections: () => open.size,
    async [Symbol.asyncDispose]() {
      for (const client of open) client.destroy();
      listener.close();
      await once(listener, "close");
    },
  };
};
