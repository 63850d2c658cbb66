// The one race inside the fan-out: a reader whose snapshot is older than the position it finds. Two more readings of the
// same log would show it only by chance, so the older one is held between its snapshot and its lock.

import { createTestDatabase, ENGINE_TEMPLATE, withTestClient } from "@toolplane/testkit";
import type { Client } from "pg";
import { expect, test } from "vitest";
import { ENSURE_DURABLE, FAN_OUT, type FanOutRow } from "./events.sql.ts";

const INSERT = `
insert into bus.messages (category, project_id, subject, component, target, headers, payload)
values ('evt', 'p', 'cg.v1r4.p.public.evt.agent.a.task', 'agent', 'a', '{}', $1)`;

const SETTLE = `
with gone as (delete from bus.deliveries returning id)
select m.payload from gone g join bus.messages m on m.id = g.id order by m.id`;

// Evaluated while the statement looks for the row to lock, so after its snapshot.
const HELD_UP = FAN_OUT.text.replace(
  "where d.durable = $1\n",
  "where d.durable = $1 and pg_advisory_xact_lock_shared(7) is not null\n",
);

const fanOut = async (client: Client, text: string, limit: number): Promise<FanOutRow | undefined> =>
  (await client.query<FanOutRow>(text, ["d", "^cg[.]", limit])).rows[0];

const settled = async (client: Client): Promise<unknown[]> =>
  (await client.query<{ payload: string }>(SETTLE)).rows.map(({ payload }) => payload);

const untilBlocked = async (client: Client): Promise<void> => {
  const blocked = "select 1 from pg_locks where locktype = 'advisory' and not granted";
  while ((await client.query(blocked)).rowCount === 0);
};

test("[ARCH-6-22] a reader with an older snapshot than the position gives up instead of reading again", async () => {
  expect(HELD_UP).not.toBe(FAN_OUT.text);
  await using database = await createTestDatabase(ENGINE_TEMPLATE);
  const open = <T>(body: (client: Client) => Promise<T>): Promise<T> => withTestClient(database.url, body);
  await open((writer) =>
    open((slow) =>
      open(async (quick) => {
        await quick.query(ENSURE_DURABLE.text, ["d", "cg.>", false]);
        await writer.query("begin");
        await writer.query(INSERT, ["open"]);
        await quick.query(INSERT, ["second"]);
        await quick.query(INSERT, ["third"]);

        await quick.query("select pg_advisory_lock(7)");
        const late = fanOut(slow, HELD_UP, 10);
        await untilBlocked(quick);
        await writer.query("commit");
        // One row at a time, so that there is still something to read when the slow one comes.
        expect(await fanOut(quick, FAN_OUT.text, 1)).toMatchObject({ held: 1, delivered: 1 });
        expect(await settled(quick)).toEqual(["open"]);
        await quick.query("select pg_advisory_unlock(7)");

        expect(await late).toEqual({ locked: 1, held: 0, read: 0, delivered: 0 });
        while ((await fanOut(quick, FAN_OUT.text, 1))?.held === 1);
        expect(await settled(quick)).toEqual(["second", "third"]);
      }),
    ),
  );
});

test("[ARCH-6-24] with nothing to read the position is not locked and nothing is written", async () => {
  await using database = await createTestDatabase(ENGINE_TEMPLATE);
  await withTestClient(database.url, async (client) => {
    await client.query(ENSURE_DURABLE.text, ["d", "cg.>", false]);
    const position = "select xmin::text, xmax::text, rounds from bus.durables";
    const before = (await client.query(position)).rows;
    expect(await fanOut(client, FAN_OUT.text, 10)).toEqual({ locked: 0, held: 0, read: 0, delivered: 0 });
    expect((await client.query(position)).rows).toEqual(before);
  });
});
