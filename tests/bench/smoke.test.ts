// The bench of the doors runs from end to end: small, without a figure that is looked at.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ourContestants } from "../../bench/doors/ours.ts";
import { peerContestants } from "../../bench/doors/peers.ts";
import { renderDocument } from "../../bench/doors/report/document.ts";
import { figuresAt } from "../../bench/doors/report/summary.ts";
import { runBench } from "../../bench/doors/run-bench.ts";

test("a run measures ours by every column, checks the database, and names a neighbour that is not there", async () => {
  const nowhere = mkdtempSync(join(tmpdir(), "toolplane-no-neighbours-"));
  const said: string[] = [];
  const run = await runBench({
    contestants: [
      ...ourContestants({ sync: false }).filter(({ key }) => key === "http"),
      ...peerContestants(nowhere).filter(({ key }) => key === "pg-boss"),
    ],
    levels: [2],
    rounds: 1,
    seconds: 0.1,
    now: () => new Date(0),
    log: (line) => void said.push(line),
  });
  rmSync(nowhere, { recursive: true });

  const [ours] = run.measured;
  expect(
    run.measured.map(({ contestant }) => contestant.key),
    said.join("\n"),
  ).toEqual(["http"]);
  expect(ours?.roles.toSorted()).toEqual(["caller", "server", "store", "worker"]);
  const figures = ours === undefined ? undefined : figuresAt(ours, 2);
  expect(figures?.perSecond).toBeGreaterThan(0);
  expect(figures?.p99Ms).toBeGreaterThanOrEqual(figures?.p50Ms ?? Number.NaN);
  expect(Object.values(figures?.perCall ?? {})).toEqual([1, 2, 3, 4].map(() => expect.any(Number)));
  expect(figures?.perCall.statements).toBeGreaterThan(0);

  expect(ours?.findings).toEqual([
    { lost: [], doubled: [], stuck: [], orphaned: [], broken: [], unsent: [], surprising: [] },
  ]);
  expect(ours?.stored).toBe(ours?.calls);

  const document = renderDocument(run, { command: "npm run bench", picture: "../bench.svg" });
  expect(run.missing).toEqual([
    { name: expect.stringContaining("pg-boss"), reason: expect.stringContaining("npm ci") },
  ]);
  expect(document).toContain("pg-boss is not installed");
  expect(said.some((line) => line.includes("pg-boss") && line.includes("not measured"))).toBe(true);
});
