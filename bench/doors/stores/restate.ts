// A Restate server for one contestant: the program npm brings, with its defaults (a log that is synced), on ports of its own.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "@toolplane/processes";
import { NEIGHBOURS } from "../neighbours.ts";
import { startLoopbackServer } from "./loopback-server.ts";
import { COUNT_COMPLETED } from "./stored.sql.ts";

const program = (): string =>
  join(NEIGHBOURS, `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);

export const findRestateMissing = (): string | undefined =>
  existsSync(program()) ? undefined : `npm has no restate-server for ${process.platform} ${process.arch}`;

export interface RestateStore extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly adminUrl: string;
  /** Calls whose result the server keeps. */
  countStored(): Promise<number>;
}

export const openRestate = async (): Promise<RestateStore> => {
  const [ingress, admin, node] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const server = await startLoopbackServer({
    label: "restate-server",
    port: ingress,
    argv: (directory) => [program(), "--base-dir", join(directory, "data"), "--node-name", "bench"],
    env: {
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_LOG_FILTER: "error",
      DO_NOT_TRACK: "1",
    },
  });
  const adminUrl = `http://127.0.0.1:${admin}`;
  return {
    pid: server.pid,
    url: `http://127.0.0.1:${ingress}`,
    adminUrl,
    async countStored() {
      const response = await fetch(`${adminUrl}/query`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query: COUNT_COMPLETED }),
      });
      const { rows } = (await response.json()) as { readonly rows: readonly { readonly count: number }[] };
      return Number(rows[0]?.count);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};
