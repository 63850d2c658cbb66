// A plane of several processes: each `toolplane up` with roles of its own, over one database and maybe one NATS.

import { createTestDatabase, ENGINE_TEMPLATE, startNats, type TestNats } from "@toolplane/testkit";
import { makePlace } from "./data.ts";
import { startUp, type UpProcess } from "./up-process.ts";

export const BUSES = ["postgres", "nats"] as const;
export type BusName = (typeof BUSES)[number];

export interface Plane extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly root: string;
  readonly nats: TestNats | undefined;
  /** One process; all of them share the data directory, as on one machine. */
  up(roles: string, ...args: readonly string[]): UpProcess;
}

/** With the tables in place, unless the test is about an empty database. */
export const openPlane = async (bus: BusName, { empty = false } = {}): Promise<Plane> => {
  const place = await makePlace();
  const database = await createTestDatabase(empty ? undefined : ENGINE_TEMPLATE);
  const nats = bus === "nats" ? await startNats() : undefined;
  const where = ["--database-url", database.url, ...(nats === undefined ? [] : ["--nats-url", nats.url])];
  const processes: UpProcess[] = [];
  return {
    databaseUrl: database.url,
    root: place.root,
    nats,
    up(roles, ...args) {
      const up = startUp({ dataDir: place.dataDir, cwd: place.root, args: ["--roles", roles, ...where, ...args] });
      processes.push(up);
      return up;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map((up) => up[Symbol.asyncDispose]()));
      await nats?.stop();
      await database.drop();
      await place[Symbol.asyncDispose]();
    },
  };
};
