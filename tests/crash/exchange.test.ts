// Server and service die in the middle of exchanges: before the results in one are committed, after they are and before the
// answer leaves, and at a moment that nobody chose. Every call has its own result, once.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  checkDatabase,
  NOTHING_FOUND,
  runTestProgram,
  startTestEngine,
  type TestProgram,
  until,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

const CALLS = 300;
const PATIENCE_MS = 60_000;

/** Where one server after the other dies, with the first results that come. */
const DEATHS = ["settle:after-commit", "settle:before-commit"] as const;

test("[API-exchange-8] SIGKILL of server and service in the middle of exchanges: nothing lost, nothing doubled", {
  timeout: 120_000,
}, async () => {
  await using t = await startTestEngine();
  const { secret } = await t.engine.tokens.create({ role: "tool", projectId: "demo", targets: ["test"] });
  const server = async (port: number, deadly = ""): Promise<TestProgram & { readonly port: number }> => {
    const args = [t.database.url, String(port), deadly];
    const program = runTestProgram(new URL("./programs/exchange-server.ts", import.meta.url), args);
    return { ...program, ...((await program.next()) as { port: number }) };
  };
  const service = (port: number): TestProgram =>
    runTestProgram(new URL("./programs/exchange-service.ts", import.meta.url), [`http://127.0.0.1:${port}`, secret]);
  const settled = async (): Promise<number> => {
    const pages = ["success", "failed", "timeout"].map((status) =>
      t.engine.calls.list("demo", { status, limit: CALLS }),
    );
    return (await Promise.all(pages)).flat().length;
  };
  const dispatch = async (from: number, to: number): Promise<void> => {
    const numbers = Array.from({ length: to - from }, (_, n) => from + n);
    const call = (n: number) =>
      t.engine.calls.dispatch({ projectId: "demo", toolName: "safe", arguments: { n }, toolCallId: `call-${n}` });
    await Promise.all(numbers.map(call));
  };

  let made = 0;
  const more = async (): Promise<void> => {
    await dispatch(made, made + CALLS / 3);
    made += CALLS / 3;
  };
  let last = await server(0, DEATHS[0]);
  const { port } = last;
  await using first = service(port);
  await first.next();
  for (const death of [...DEATHS.slice(1), ""]) {
    await more();
    await last.exited;
    last = await server(port, death);
  }
  await using survivor = last;
  await more();
  // Work is under way when the service dies; another one takes what it held when its leases lapse.
  await until("results of the last server", async () => (await settled()) > CALLS / 2, PATIENCE_MS);
  await first.kill();
  await using _second = service(port);
  await until("every call to settle", async () => (await settled()) === CALLS, PATIENCE_MS);

  const views = await t.engine.calls.find(
    Array.from({ length: CALLS }, (_, n) => ({ projectId: "demo", toolCallId: `call-${n}` })),
  );
  expect(views.map(({ status }) => status)).toEqual(views.map(() => "success"));
  expect(new Set(views.map(({ resultCardId }) => resultCardId)).size).toBe(CALLS);
  const cards = await t.engine.cards.getCards(
    "demo",
    views.map(({ resultCardId }) => resultCardId ?? ""),
  );
  const said = cards.map((card) => (card as unknown as { content: { result: { n: number } } }).content.result.n);
  expect(said).toEqual(views.map(({ toolCallId }) => Number(toolCallId.slice("call-".length))));
  const place = mkdtempSync(join(tmpdir(), "toolplane-exchange-"));
  writeFileSync(join(place, "journal"), "");
  const findings = await checkDatabase({ databaseUrl: t.database.url, journal: join(place, "journal") });
  // Which runs there were is in no journal here, so ends cannot surprise.
  expect({ ...findings, surprising: [] }).toEqual(NOTHING_FOUND);
  rmSync(place, { recursive: true });
  expect(survivor.child.exitCode).toBeNull();
});
