// `node --conditions=source scripts/schema-snapshot.ts [--check]`: writes packages/engine/schema.snapshot.sql from what
// the migrations make on a throw-away server, or says where the file differs and exits 1.

import { readFileSync, writeFileSync } from "node:fs";
import { migrate } from "@toolplane/engine/internal";
import { startTestPostgres, withTestClient } from "@toolplane/testkit";
import { firstDifference } from "./schema-snapshot/compare-lines.ts";
import { dumpSchema } from "./schema-snapshot/dump-schema.ts";

const FILE = new URL("../packages/engine/schema.snapshot.sql", import.meta.url);
const NAME = "packages/engine/schema.snapshot.sql";

const readSchema = async (): Promise<string> => {
  await using server = await startTestPostgres();
  const url = server.url();
  await migrate({ connectionString: url });
  return await withTestClient(url, dumpSchema);
};

const readFile = (): string => {
  try {
    return readFileSync(FILE, "utf8");
  } catch {
    return "";
  }
};

const schema = await readSchema();
if (!process.argv.includes("--check")) {
  writeFileSync(FILE, schema);
  console.log(`${NAME}: ${schema.split("\n").length} lines`);
} else {
  const difference = firstDifference(readFile(), schema);
  if (difference !== undefined) {
    console.error(`${NAME} is not what the migrations make; write it again without --check.\n${difference}`);
    process.exitCode = 1;
  } else {
    console.log(`${NAME} is what the migrations make`);
  }
}
