// Every query of the Grafana dashboard, asked of Debian's Prometheus after a real run: each answers with data. `prometheus` is taken
// from PATH, else installed with apt-get.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startStack } from "../cli/stack.ts";

const SCRAPER = "the-token-of-the-scraper";

const findPrometheus = (): string => {
  try {
    return execFileSync("which", ["prometheus"], { encoding: "utf8" }).trim();
  } catch {
    execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "prometheus"], { stdio: "ignore" });
    return execFileSync("which", ["prometheus"], { encoding: "utf8" }).trim();
  }
};

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

interface QueryAnswer {
  readonly status: string;
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

test("every query of the dashboard has data after a run", async () => {
  const program = findPrometheus();
  const directory = mkdtempSync(join(tmpdir(), "toolplane-prometheus-"));
  await using stack = await startStack({ TOOLPLANE_METRICS_TOKEN: SCRAPER });
  const port = await freePort();
  const config = {
    global: { scrape_interval: "1s" },
    scrape_configs: [
      {
        job_name: "toolplane",
        authorization: { credentials: SCRAPER },
        static_configs: [{ targets: [new URL(stack.url).host] }],
      },
    ],
  };
  // JSON is YAML.
  writeFileSync(join(directory, "prometheus.yml"), JSON.stringify(config));
  const args = [
    `--config.file=${join(directory, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(directory, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const prometheus = spawn(program, args, { stdio: "ignore" });
  try {
    const ask = async (query: string): Promise<QueryAnswer> => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`);
      return (await response.json()) as QueryAnswer;
    };
    const isUp = async (): Promise<boolean> => {
      const answer = await ask("up").catch(() => undefined);
      return answer?.data.result[0]?.value[1] === "1";
    };
    await expect.poll(isUp).toBe(true);
    const dashboard = JSON.parse(readFileSync(new URL("../../deploy/grafana/toolplane.json", import.meta.url), "utf8"));
    const queries: readonly string[] = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    );
    // Calls of several kinds, one that waits for a service that is not there, and one under way.
    await stack.api("POST", "/projects/demo/tools", {
      tool_name: "unserved",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.nobody.unserved",
      after_execution: "suspend",
    });
    await stack.api("POST", "/projects/demo/calls", { tool_name: "unserved" });
    const empty = async (): Promise<readonly string[]> => {
      await Promise.all([
        stack.call("echo", { text: "x" }),
        stack.call("count_words", { text: "one two" }),
        stack.call("fail", {}),
      ]);
      const answers = await Promise.all(queries.map(ask));
      return queries.filter((_, index) => {
        const { status, data } = answers[index] ?? {};
        return status !== "success" || data === undefined || data.result.length === 0;
      });
    };
    await expect.poll(empty, { timeout: 120_000, interval: 1_000 }).toEqual([]);
  } finally {
    prometheus.kill("SIGTERM");
    await new Promise((resolve) => prometheus.once("exit", resolve));
    rmSync(directory, { recursive: true });
  }
});
