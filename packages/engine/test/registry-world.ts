// What a test of the registry or of the card store stands on: a fresh migrated database, used as the engine's role, with
// every part wired the way createEngine wires them, and a doorbell that remembers its rings.

import { createHash } from "node:crypto";
import { createTestDatabase, ENGINE_TEMPLATE, type TestDatabase } from "@toolplane/testkit";
import { type Boxes, createBoxes } from "../src/cards/boxes.ts";
import { type CardStore, createCardStore } from "../src/cards/card-store.ts";
import { systemClock } from "../src/ports/clock.ts";
import type { Doorbell, DoorbellKind, RingOrigin } from "../src/ports/doorbell.ts";
import { createIds, type Ids } from "../src/ports/ids.ts";
import { type Agents, createAgents } from "../src/registry/agents.ts";
import { createProfiles, type Profiles } from "../src/registry/profiles.ts";
import { createProjects, type Projects } from "../src/registry/projects.ts";
import { createSchemaChecks } from "../src/registry/schema-checks.ts";
import { createTools, type Tools } from "../src/registry/tools.ts";
import { createDatabase, type Database, type Statement } from "../src/sql/database.ts";
import { createThreads } from "../src/threads/threads.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export interface RecordedDoorbell extends Doorbell {
  readonly rings: DoorbellKind[];
  /** A ring as it comes from another process. */
  ringElsewhere(kind: DoorbellKind): void;
}

export const createRecordedDoorbell = (): RecordedDoorbell => {
  const rings: DoorbellKind[] = [];
  const listeners = new Map<DoorbellKind, Set<(from: RingOrigin) => void>>();
  const tell = (kind: DoorbellKind, from: RingOrigin): void => {
    for (const heard of listeners.get(kind) ?? []) heard(from);
  };
  return {
    rings,
    ring(kind) {
      rings.push(kind);
      tell(kind, "here");
    },
    ringElsewhere: (kind) => tell(kind, "elsewhere"),
    listen(kind, heard) {
      const those = listeners.get(kind) ?? new Set();
      listeners.set(kind, those.add(heard));
      return () => {
        those.delete(heard);
      };
    },
    close: () => Promise.resolve(),
  };
};

export interface RegistryWorld extends AsyncDisposable {
  readonly database: TestDatabase;
  /** As the engine's role. */
  readonly db: Database;
  /** As the owner of everything, for what the engine itself may not do. */
  readonly owner: Database;
  readonly doorbell: RecordedDoorbell;
  readonly ids: Ids;
  readonly cards: CardStore;
  readonly boxes: Boxes;
  readonly tools: Tools;
  readonly projects: Projects;
  readonly profiles: Profiles;
  readonly agents: Agents;
  /** Any statement, as the owner. */
  ask<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

let statements = 0;

/** A statement of a test's own; prepared under a name nobody else has. */
export const adHoc = (text: string): Statement => ({ name: `test-${++statements}`, text });

export const openRegistryWorld = async (): Promise<RegistryWorld> => {
  const database = await createTestDatabase(ENGINE_TEMPLATE);
  const connection = { connectionString: database.url };
  const db = createDatabase({ connection, role: "toolplane_engine", maxConnections: 12 });
  const owner = createDatabase({ connection, maxConnections: 2 });
  const doorbell = createRecordedDoorbell();
  const ids = createIds();
  const cards = createCardStore({ db, sha256 });
  const boxes = createBoxes({ db, ids, cards });
  const threads = createThreads({ clock: systemClock });
  const tools = createTools({ db, doorbell, schemas: createSchemaChecks(threads), sha256 });
  const profiles = createProfiles({ db, doorbell, ids, clock: systemClock, cards, boxes });
  return {
    database,
    db,
    owner,
    doorbell,
    ids,
    cards,
    boxes,
    tools,
    profiles,
    projects: createProjects({ db, doorbell, ids, tools }),
    agents: createAgents({ db, doorbell, profiles }),
    ask: (text, values = []) => owner.query(adHoc(text), values),
    async [Symbol.asyncDispose]() {
      await threads.close();
      await db.close();
      await owner.close();
      await database.drop();
    },
  };
};
