// Where the time of a turn goes in the server: `node --conditions=source bench/agents/profile.ts --in-flight 64 --calls 1`.

import { parseArgs } from "node:util";
import { READ_STATEMENTS, START_STATEMENTS } from "../engine/profile.sql.ts";
import { formatTable } from "../engine/report.ts";
import { warmUp } from "../engine/round.ts";
import { startServer } from "../engine/scene.ts";
import { ANALYZE } from "./scene.sql.ts";
import { openAgentScene } from "./scene.ts";
import { turnVariants } from "./variants.ts";

const { values } = parseArgs({
  options: {
    "in-flight": { type: "string", default: "64" },
    seconds: { type: "string", default: "5" },
    calls: { type: "string", default: "1" },
  },
});
const inFlight = Number(values["in-flight"]);

interface StatementRow {
  readonly calls: number;
  readonly rows: number;
  readonly total_ms: number;
  readonly blocks: number;
  readonly statement: string;
}

await using server = await startServer({
  settings: { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track_planning": "on" },
});
await using scene = await openAgentScene(server.url(), inFlight);
const variant = turnVariants(scene).find(({ calls }) => calls === Number(values.calls));
if (variant !== undefined) {
  await warmUp(variant, inFlight, 2);
  await scene.aside.query({ name: "", text: ANALYZE });
  for (const text of START_STATEMENTS) await scene.aside.query({ name: "", text });
  const before = scene.worker.stats().turns.finished;
  await warmUp(variant, inFlight, Number(values.seconds));
  const turns = scene.worker.stats().turns.finished - before;
  const rows = await scene.aside.query<StatementRow>({ name: "", text: READ_STATEMENTS }, [25]);
  console.log(`${turns} turns of ${values.calls} calls, ${inFlight} in flight`);
  console.log(
    formatTable([
      ["statement", "ms/turn", "times", "ms each", "rows", "blocks each"],
      ...rows.map((row) => [
        row.statement.replaceAll(/\s+/g, " ").slice(0, 90),
        (row.total_ms / turns).toFixed(3),
        String(row.calls),
        (row.total_ms / row.calls).toFixed(2),
        String(row.rows),
        (row.blocks / row.calls).toFixed(0),
      ]),
    ]),
  );
}
