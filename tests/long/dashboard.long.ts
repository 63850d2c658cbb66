// Every query of the Grafana dashboard, asked of Debian's Prometheus after a real run: each answers with data. `prometheus` is taken
// from PATH, else installed with apt-get.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HEADERS } from "@toolplane/protocol";
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

/** What the run below makes happen. */
const ABOVE_ZERO = /limited_calls|open_breakers|status="(?:429|503)"/;

interface Claimed {
  readonly headers: Readonly<Record<string, string>>;
  readonly lease: { readonly id: string };
}

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
    const define = (name: string, options: object) =>
      stack.api("POST", "/projects/demo/tools", {
        tool_name: name,
        target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${name}.run`,
        after_execution: "suspend",
        options,
      });
    const post = (path: string, body: object) => stack.api("POST", `/projects/demo/${path}`, body);
    const claim = async (target: string, max: number) =>
      (await post(`tool-services/${target}/claim`, { max, wait_seconds: 0 })).commands as readonly Claimed[];
    await define("narrow", { concurrency: 2 });
    await define("broken", { breaker: { failure_rate: 0.5, window_seconds: 600, open_seconds: 600 } });
    for (let n = 0; n < 5; n++) await post("calls", { tool_name: "broken" });
    const error = { code: "upstream_unavailable", message: "away" };
    for (const { headers, lease } of await claim("broken", 5))
      await post(`calls/${headers[HEADERS.toolCallId]}/result`, { lease: lease.id, status: "failed", error });
    const refused = async (): Promise<void> => {
      // A breaker refuses, and so does a project that may make no further call.
      await post("calls", { tool_name: "broken" });
      await stack.api("PATCH", "/projects/demo", { limits: { rate: { limit: 1, per_seconds: 3_600 } } });
      for (let n = 0; n < 2; n++) await post("calls", { tool_name: "echo" });
      await stack.api("PATCH", "/projects/demo", { limits: { rate: null } });
    };
    const empty = async (): Promise<readonly string[]> => {
      await refused();
      for (let n = 0; n < 3; n++) await post("calls", { tool_name: "narrow" });
      await claim("narrow", 3);
      await Promise.all([
        stack.call("echo", { text: "x" }),
        stack.call("count_words", { text: "one two" }),
        stack.call("fail", {}),
      ]);
      const answers = await Promise.all(queries.map(ask));
      return queries.filter((_, index) => {
        const { status, data } = answers[index] ?? {};
        if (status !== "success" || data === undefined || data.result.length === 0) return true;
        // Where a panel shows nothing as zero, the run must have made it more.
        return ABOVE_ZERO.test(queries[index] ?? "") && data.result.every(({ value }) => Number(value[1]) === 0);
      });
    };
    await expect.poll(empty, { timeout: 120_000, interval: 1_000 }).toEqual([]);
  } finally {
    prometheus.kill("SIGTERM");
    await new Promise((resolve) => prometheus.once("exit", resolve));
    rmSync(directory, { recursive: true });
  }
});
