// What runs in a process that serves API tools: the service itself, and the imports of the configuration.

import { createThreads, type Threads } from "@toolplane/engine";
import type { Settings } from "../config/settings.ts";
import type { ServiceMeans } from "../gateway/serve-across.ts";
import { createEnvSource } from "../secrets/env-grants.ts";
import { type ApiLife, createApiLife } from "./api-life.ts";
import { createDocumentFetch } from "./fetch-document.ts";
import { createApiEgress, serveApis } from "./serve-apis.ts";

export interface RunApisOptions extends ServiceMeans {
  readonly settings: Pick<Settings, "apis" | "egressAllow" | "envGrants" | "project" | "serviceEnvs">;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where documents are imported; threads of its own, which end with the imports, unless given. */
  readonly threads?: Threads | undefined;
}

export interface RunningApis {
  /** Resolves when each import of the configuration has been tried once, with or without success. */
  readonly tried: Promise<void>;
  stop(drainMs: number): Promise<void>;
}

/** A document of 64 MB needs some 600 MB; one of 13 MB needs 150. */
const HEAP_MB = 1_024;
/** 10 MB of YAML take seconds to read; a busy machine needs a multiple of that. */
const IMPORT_MS = 120_000;
/** Imports that wait for their turn; each entry of the configuration has one at a time. */
const MAX_APIS = 1_000;

/** For the imports of one process: large documents, which take longer than what the engine's own threads are for. */
export const createImportThreads = (clock: ServiceMeans["clock"]): Threads =>
  createThreads({ clock, size: 1, limitMs: IMPORT_MS, heapMb: HEAP_MB, maxWaiting: MAX_APIS });

const startImports = ({ engine, settings, clock, log, threads }: RunApisOptions & { readonly threads: Threads }) => {
  const { apis, project: projectId, egressAllow: allow } = settings;
  const fetchDocument = createDocumentFetch(allow);
  return apis.map(
    (setting): ApiLife => createApiLife({ setting, projectId, engine, threads, fetchDocument, allow, clock, log }),
  );
};

export const runApis = (options: RunApisOptions): RunningApis => {
  const { settings, env, ...means } = options;
  const egress = createApiEgress(settings.egressAllow);
  const envSource = createEnvSource(settings.envGrants, env);
  const service = serveApis({ ...means, egress, envSource, serviceEnvs: settings.serviceEnvs });
  const threads = options.threads ?? createImportThreads(means.clock);
  const lives = startImports({ ...options, threads });
  // A thread that has read a large document keeps its memory until it ends.
  const endThreads = async (): Promise<void> => {
    if (options.threads === undefined) await threads.close();
  };
  void Promise.all(lives.map(({ ended }) => ended)).then(endThreads);
  return {
    tried: Promise.all(lives.map(({ tried }) => tried)).then(() => undefined),
    async stop(drainMs) {
      await endThreads();
      await Promise.all([service.stop({ drainMs }), ...lives.map((life) => life.stop())]);
      await egress.close();
    },
  };
};
