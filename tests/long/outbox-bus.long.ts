// The bus of an engine with a carrier keeps the same promises as every other: what is published goes through the outbox
// and the relay, what is consumed comes from a real nats-server.

import type { CarrierBus, DrainOptions } from "@toolplane/bus";
import { createEngine, type Engine } from "@toolplane/engine";
import type { CarrierMeans } from "@toolplane/engine/internal";
import { carrierBusContract, createTestDatabase, ENGINE_TEMPLATE, queryTestDatabase } from "@toolplane/testkit";
import { openNatsGround } from "../carrier/nats-world.ts";

carrierBusContract("outbox over nats", async () => {
  const ground = await openNatsGround();
  const database = await createTestDatabase(ENGINE_TEMPLATE);
  const engines: Engine[] = [];
  return {
    async connect() {
      const connection = { connectionString: database.url };
      const carrier = await ground.carrier();
      const { promise: opened, resolve } = Promise.withResolvers<CarrierBus>();
      const watched = {
        ...carrier,
        open(means: CarrierMeans) {
          const bus = carrier.open(means);
          resolve(bus);
          return bus;
        },
      };
      const engine = await createEngine({ connection, maxConnections: 4, watchdog: false, carrier: watched });
      engines.push(engine);
      // A relay without its carrier would keep what it claims from the others.
      const close = async (drain?: DrainOptions): Promise<void> => {
        await engine.bus.close(drain);
        await engine.close();
      };
      return { ...(await opened), publish: engine.bus.publish, close };
    },
    async deadLetters(projectId) {
      const text = "select subject, payload, reason, attempts from state.dead_letters where project_id = $1";
      const rows = await queryTestDatabase(database.url, text, [projectId]);
      return rows.map(({ subject, payload, reason, attempts }) => ({
        subject: String(subject),
        payload: String(payload),
        reason: String(reason),
        attempts: Number(attempts),
      }));
    },
    async close() {
      await Promise.all(engines.map((engine) => engine.close()));
      await database.drop();
      await ground[Symbol.asyncDispose]();
    },
  };
});
