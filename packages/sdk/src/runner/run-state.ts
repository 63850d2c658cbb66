// What is known about one run; the stages of the runner add to it and share nothing else.

import type { CGContext, CommandPayload, JsonObject } from "@toolplane/protocol";
import type { ClaimedCommand, Report } from "../gateway/gateway.ts";
import type { Log } from "../ports/log.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { Crash } from "./crash.ts";
import type { ToolProfile } from "./executor.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { RunReport } from "./run-report.ts";
import type { RunSignal } from "./run-signal.ts";
import type { RunnerDeps } from "./runner-deps.ts";

export interface AcceptedCommand {
  readonly command: ClaimedCommand;
  readonly context: CGContext;
  readonly payload: CommandPayload;
  readonly toolCallId: string;
}

export interface CallEnd {
  readonly report: RunReport;
  /** The callback that was sent, for a second delivery of the same command. */
  readonly sent?: Report | undefined;
}

export interface Run extends AcceptedCommand {
  readonly deps: RunnerDeps;
  readonly signal: RunSignal;
  /** Known from the start, or as soon as the call's definition was read. */
  profile: ToolProfile | undefined;
  readonly deadline: number;
  readonly traceparent: string;
  readonly keeper: LeaseKeeper | undefined;
  readonly log: Log;
  /** Of the tool.call card, as soon as there is one. */
  metadata: JsonObject | undefined;
  /** Knows the service's own secrets from the start, and the call's secrets as soon as they are read. */
  scrubber: Scrubber;
  /** The tool has been called. */
  started: boolean;
  /** It did not stop when it was told to. */
  leftBehind: boolean;
  /** What ended the process, when an error that no code caught did. */
  crash: Crash | undefined;
}

/** What a runner is made of, and what it runs. */
export interface RunningDeps extends RunnerDeps {
  /** The runs that have not ended. */
  readonly active: Set<Run>;
}
