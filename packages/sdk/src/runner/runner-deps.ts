// What a runner is made of.

import type { HashText } from "@toolplane/protocol";
import type { ToolGateway } from "../gateway/gateway.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids, Random } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { SecretSource } from "../secrets/secret-source.ts";
import type { DefinitionMemory } from "./definition-memory.ts";
import type { DeliveryMode } from "./deliver.ts";
import type { Executor } from "./executor.ts";

export interface RunnerDeps {
  readonly gateway: ToolGateway;
  readonly executor: Executor;
  readonly target: string;
  /** Who reports and signs results: `tool.<target>` unless the token says otherwise. */
  readonly actor: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly sha256: HashText;
  readonly log: Log;
  readonly secrets: SecretSource;
  /** Parameter -> variable, by the operator of the service; it counts more than what a definition names. */
  readonly envs: Readonly<Record<string, string>>;
  /** Values that must never be shown, whatever a tool declares: the service's own token. */
  readonly ownSecrets: ReadonlyMap<string, string>;
  /** For calls that are given no further secrets. */
  readonly ownScrubber: Scrubber;
  /** Definitions that were read, for executors that run definitions. */
  readonly definitions: DefinitionMemory;
  readonly mode: DeliveryMode;
  readonly maxAttempts: number;
  readonly maxResultBytes: number;
}
