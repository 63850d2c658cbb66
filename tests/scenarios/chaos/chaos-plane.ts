// The plane under chaos: an API, two workers, a project manager and two tool services (one over NATS, one over HTTP), each
// a process of its own, over one PostgreSQL and one NATS.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findFreePort } from "@toolplane/processes";
import { createTestDatabase, programArgv, programEnv, until } from "@toolplane/testkit";
import { TOOLPLANE } from "../../toolplane-argv.ts";
import { type Member, startMember } from "./member.ts";

const SERVICE = programArgv(new URL("../services/chaos-tools.ts", import.meta.url));

export const PROJECT = "demo";
/** Who was killed is given up after this. */
const LEASE_SECONDS = "4";
const READY_MS = 60_000;
const PAUSE_MS = 50;

export interface ChaosPlane extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly journal: string;
  readonly directory: string;
  readonly members: readonly Member[];
  /** One request, sent until it is answered: a killed API is what this is about. */
  insist<T>(method: string, path: string, body?: unknown): Promise<T>;
  untilReady(): Promise<void>;
  /** SIGTERM for all; the exit codes by name. */
  stop(): Promise<Readonly<Record<string, number | null>>>;
}

export interface ChaosPlaneOptions {
  readonly natsUrl: string;
  /** Copies a cluster keeps of each stream. */
  readonly replicas?: number | undefined;
}

export const openChaosPlane = async ({ natsUrl, replicas = 1 }: ChaosPlaneOptions): Promise<ChaosPlane> => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-chaos-"));
  const journal = join(directory, "journal.ndjson");
  const database = await createTestDatabase({ name: "own", migrate: async () => undefined });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const base = { ...programEnv(), HOME: directory, NO_COLOR: "1" };
  const data = join(directory, "data");
  const config = join(directory, "toolplane.yaml");
  writeFileSync(config, `bus: { replicas: ${replicas} }\n`);

  const up = (name: string, roles: string, ...args: readonly string[]): Member => {
    const where = ["--database-url", database.url, "--nats-url", natsUrl, "--data", data, "--config", config];
    return startMember({
      name,
      argv: [...TOOLPLANE, "up", "--roles", roles, ...where, ...args],
      env: { ...base, TOOLPLANE_LEASE_SECONDS: LEASE_SECONDS },
      readyLine: "ready ",
      log: join(directory, `${name}.log`),
    });
  };
  const service = (target: string, env: Readonly<Record<string, string>>): Member =>
    startMember({
      name: target,
      argv: SERVICE,
      env: { ...base, TARGET: target, JOURNAL: journal, TOOLPLANE_PROJECT: PROJECT, ...env },
      readyLine: "serving",
      log: join(directory, `${target}.log`),
    });
  const token = (): string => readFileSync(join(data, "token"), "utf8").trim();

  const ups = [
    up("api", "api", "--demo", "--port", String(port)),
    up("worker-1", "worker"),
    up("worker-2", "worker"),
    up("pmo", "pmo"),
  ];
  const areReady = (members: readonly Member[]): Promise<void> =>
    until("all are ready", () => members.every((member) => member.isReady()), READY_MS);
  await areReady(ups);
  const members = [
    ...ups,
    service("nats_tools", { TOOLPLANE_URL: natsUrl }),
    service("http_tools", { TOOLPLANE_URL: url, TOOLPLANE_TOKEN: token() }),
  ];
  await areReady(members);

  const ask = async (method: string, path: string, body?: unknown): Promise<Response | undefined> => {
    try {
      const response = await fetch(`${url}/projects/${PROJECT}${path}`, {
        method,
        headers: { authorization: `Bearer ${token()}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return response.status >= 500 ? undefined : response;
    } catch {
      return undefined;
    }
  };
  const stop = async (): Promise<Readonly<Record<string, number | null>>> =>
    Object.fromEntries(await Promise.all(members.map(async (member) => [member.name, await member.stop()] as const)));

  return {
    databaseUrl: database.url,
    journal,
    directory,
    members,
    async insist<T>(method: string, path: string, body?: unknown): Promise<T> {
      for (;;) {
        const text = await (await ask(method, path, body))?.text().catch(() => undefined);
        if (text !== undefined) return JSON.parse(text) as T;
        await delay(PAUSE_MS);
      }
    },
    untilReady: () => areReady(members),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await database.drop();
      if (process.env.KEEP_CHAOS === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
};
