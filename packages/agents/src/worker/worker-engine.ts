// What a worker needs of an engine.

import type { Engine, Turns } from "@toolplane/engine";

export type WorkerEngine = Pick<
  Engine,
  "bus" | "serveAgents" | "boxes" | "profiles" | "agents" | "definitions" | "tools" | "doorbell"
> & { readonly turns: Turns };
