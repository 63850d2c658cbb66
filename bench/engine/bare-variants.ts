// The floor's drivers. Their rows are copies of one the engine wrote, with new ids in them, so that every byte that is
// stored has its counterpart; what the engine checks and decides on the way is left out.

import { createIds } from "@toolplane/engine";
import type { Database, Statement } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import {
  BARE_CLAIM,
  BARE_DISPATCH,
  BARE_SETTLE,
  CALL_COLUMNS,
  FIND_TABLES,
  MAKE_TABLES,
  READ_SAMPLE,
} from "./bare-rows.sql.ts";
import type { Variant } from "./round.ts";
import { PROJECT, type Scene, TARGET } from "./scene.ts";

type Row = Readonly<Record<string, unknown>>;

interface SampleRow {
  readonly call: Row;
  readonly call_body: string;
  readonly result_body: string;
}

interface BareCall {
  readonly row: Row;
  readonly body: string;
  readonly settle: readonly unknown[];
}

const MAX_ITEMS = 256;
const IN_FLIGHT = 2;

/** What waits while others are under way goes together: the engine's coalescer without keys, bytes and rescue. */
const createBatches = <Item>(flush: (items: readonly Item[]) => Promise<void>) => {
  let waiting: { item: Item; resolve(): void; reject(error: unknown): void }[] = [];
  let inFlight = 0;
  const pump = (): void => {
    while (inFlight < IN_FLIGHT && waiting.length > 0) {
      const taken = waiting.slice(0, MAX_ITEMS);
      waiting = waiting.slice(MAX_ITEMS);
      inFlight++;
      flush(taken.map(({ item }) => item))
        .then(
          () => {
            for (const { resolve } of taken) resolve();
          },
          (error: unknown) => {
            for (const { reject } of taken) reject(error);
          },
        )
        .finally(() => {
          inFlight--;
          pump();
        });
    }
  };
  return (item: Item): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      queueMicrotask(pump);
    });
};

const columns = (rows: readonly (readonly unknown[])[]): unknown[] =>
  (rows[0] ?? []).map((_, index) => rows.map((row) => row[index]));

const createCopies = (sample: SampleRow) => {
  const ids = createIds();
  const old = String(sample.call.tool_call_id);
  const oldCard = String(sample.call.call_card_id);
  const oldResult = String(sample.call.result_card_id);
  return (): BareCall => {
    const id = ids.uuid();
    const card = ids.uuid();
    const result = ids.uuid();
    const renew = (text: string): string =>
      text.replaceAll(old, id).replaceAll(oldCard, card).replaceAll(oldResult, result);
    const row = {
      ...sample.call,
      status: "queued",
      tool_call_id: id,
      agent_turn_id: `turn_${id}`,
      step_id: `step_${id}`,
      call_card_id: card,
      headers: renew(String(sample.call.headers)),
      lineage: renew(String(sample.call.lineage)),
    };
    const hash = sample.call.result_hash;
    return {
      row,
      body: renew(sample.call_body),
      settle: [PROJECT, id, row.agent_turn_id, row.step_id, result, hash, renew(sample.result_body)],
    };
  };
};

export const bareVariants = async (scene: Scene): Promise<readonly Variant[]> => {
  const { aside } = scene;
  const db: Database = scene.engine.db;
  const run = (statement: Statement, values: readonly unknown[]): Promise<Row[]> => db.query<Row>(statement, values);
  if ((await aside.query({ name: "", text: FIND_TABLES })).length === 0) {
    for (const text of MAKE_TABLES.split(";")) await aside.query({ name: "", text });
  }
  const [sample] = await aside.query<SampleRow>({ name: "", text: READ_SAMPLE }, [PROJECT]);
  if (sample === undefined) throw new ToolplaneError("internal_error", "there is no settled call to copy");
  const copy = createCopies(sample);

  const batches = () => ({
    dispatch: createBatches<BareCall>(async (calls) => {
      const rows = calls.map(({ row, body }) => [...CALL_COLUMNS.map(([name]) => row[name]), body]);
      await run(BARE_DISPATCH, columns(rows));
    }),
    settle: createBatches<readonly unknown[]>(async (rows) => {
      await run(BARE_SETTLE, columns(rows));
    }),
  });

  const inMemory: Variant["begin"] = () => {
    const { dispatch, settle } = batches();
    const doOne = async (): Promise<boolean> => {
      const call = copy();
      await dispatch(call);
      await settle(call.settle);
      return true;
    };
    return { doOne, end: () => Promise.resolve() };
  };

  const queued: Variant["begin"] = (capacity) => {
    const { dispatch, settle } = batches();
    const open = new Map<string, { readonly call: BareCall; readonly done: () => void }>();
    let claiming = false;
    let again = false;
    const claim = async (): Promise<void> => {
      again = true;
      if (claiming) return;
      claiming = true;
      while (again) {
        again = false;
        for (const { tool_call_id: id } of await run(BARE_CLAIM, [PROJECT, TARGET, Math.min(capacity, MAX_ITEMS)])) {
          const found = open.get(String(id));
          open.delete(String(id));
          if (found !== undefined) void settle(found.call.settle).then(found.done);
        }
      }
      claiming = false;
    };
    const doOne = async (): Promise<boolean> => {
      const call = copy();
      await new Promise<void>((done, failed) => {
        open.set(String(call.row.tool_call_id), { call, done });
        dispatch(call).then(claim).catch(failed);
      });
      return true;
    };
    return { doOne, end: () => Promise.resolve() };
  };

  return [
    { name: "bare rows", adds: "call and both cards on disk", begin: inMemory },
    { name: "bare rows, queue", adds: "taken from the database", begin: queued },
  ];
};
