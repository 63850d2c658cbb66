// An outbox full of commands and events, processes that die while they carry it, and what is on the server in the end.

import { createEngine } from "@toolplane/engine";
import type { FaultPoint } from "@toolplane/engine/internal";
import { spawnGuarded } from "@toolplane/processes";
import {
  createMemoryCarrier,
  createTestDatabase,
  ENGINE_TEMPLATE,
  eventually,
  programArgv,
  programEnv,
  toolUpload,
} from "@toolplane/testkit";
import type { NatsGround } from "./nats-world.ts";
import type { LifeConfig } from "./programs/carrier-life.ts";

const PROJECT = "demo";
const EVENT = `cg.v1r4.${PROJECT}.public.evt.agent.news.tick`;
/** So late is what a dead process had in its hands carried by the next. */
const RELAY_CLAIM_MS = 500;

/** A life is the start of a process and one batch; a sweeper that finds nothing looks again after a minute or so. */
const LONGEST_LIFE_MS = 120_000;

export interface MortalRelay extends AsyncDisposable {
  /** One life that ends at this point; how it ended. */
  die(point: FaultPoint, claims?: number): Promise<string | null>;
  /** A life that does not end until the outbox is empty, and what is waited for has come. */
  survive(wait?: () => Promise<void>): Promise<void>;
  /** The same, without commands that are acknowledged. */
  open(): Promise<{ readonly commands: number; readonly events: number }>;
  /** What the server holds: the commands of the calls, and the events that were published here. Calls tell events of their own. */
  held(): Promise<{ readonly commands: number; readonly events: number }>;
}

/** So many calls and events are written down while no bus answers. */
export const openMortalRelay = async (ground: NatsGround, calls: number, events: number): Promise<MortalRelay> => {
  const database = await createTestDatabase(ENGINE_TEMPLATE);
  const connection = { connectionString: database.url };
  const nowhere = createMemoryCarrier();
  nowhere.away(true);
  const writer = await createEngine({ connection, watchdog: false, carrier: nowhere });
  await writer.projects.createProject({ project_id: PROJECT, title: "Demo", bootstrap: false }, "sys.test");
  await writer.tools.upsertTool(PROJECT, toolUpload({ name: "safe", options: { retry: "safe" } }));
  // While the bus is away this fails, and is remembered.
  await writer.attach({ projectId: PROJECT, target: "test" }).catch(() => undefined);
  const ask = { projectId: PROJECT, toolName: "safe", arguments: {} };
  await Promise.all(Array.from({ length: calls }, () => writer.calls.dispatch(ask)));
  await writer.bus.publish(
    Array.from({ length: events }, (_, n) => ({ subject: EVENT, headers: {}, payload: `${n}` })),
  );
  await writer.close();

  const program = programArgv(new URL("./programs/carrier-life.ts", import.meta.url));
  return {
    async die(point, claims = 0) {
      const config: LifeConfig = {
        databaseUrl: database.url,
        natsUrl: ground.server.url,
        projectId: PROJECT,
        point,
        claims,
        relayClaimMs: RELAY_CLAIM_MS,
      };
      const argv = [...program, JSON.stringify(config)];
      const life = await spawnGuarded(argv, {
        label: `relay dying at ${point}`,
        env: programEnv(),
        stdio: ["ignore", "ignore", "inherit"],
      });
      // One that never comes there ends by another signal than it should.
      const hangs = setTimeout(() => void life.end({ signal: "SIGTERM" }), LONGEST_LIFE_MS);
      const { signal } = await life.exited;
      clearTimeout(hangs);
      return signal;
    },
    async survive(wait) {
      const carrier = await ground.carrier({ relayClaimMs: RELAY_CLAIM_MS });
      const engine = await createEngine({ connection, watchdog: false, carrier });
      await eventually(async () => {
        const rows = await engine.db.query({ name: "test_left", text: "select from bus.messages limit 1" });
        return rows.length === 0;
      });
      // The sweeper looks at everything once when its process starts.
      await eventually(() => (engine.carried?.stats().answered.looks ?? 0) >= 2);
      await wait?.();
      await engine.close();
    },
    open: async () => ({ commands: await ground.open(), events: await ground.held("evt", EVENT) }),
    held: async () => ({ commands: await ground.held("cmd"), events: await ground.held("evt", EVENT) }),
    [Symbol.asyncDispose]: () => database.drop(),
  };
};
