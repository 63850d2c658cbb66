// A command as data: how it is written, what it takes, what it does. Help, parsing and the reference page read the same
// table, so they cannot differ.

import type { ToolplaneError } from "@toolplane/protocol";
import type { Api, Plane } from "@toolplane/sdk/client";
import type { CliIo } from "./io.ts";
import type { Flags, OptionName } from "./options.ts";
import type { Output } from "./output.ts";

export interface CommandContext {
  /** What was written after the command, without flags. */
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly io: CliIo;
  readonly output: Output;
  /** Any route of the API. */
  readonly client: Api;
  /**
   * The client of callers, on the same connections; `onAway` hears when the server is away and is waited for. A server that has
   * never answered is waited for `startupMs`: not at all, if left out.
   */
  readonly openPlane: (onAway?: (error: ToolplaneError) => void, startupMs?: number) => Plane;
  /** `--project`, TOOLPLANE_PROJECT, or demo. */
  readonly project: string;
}

export interface Command {
  /** One word, or two: `call`, `calls show`. */
  readonly name: string;
  /** Arguments as the help writes them: `TOOL [JSON|@file|-]`. */
  readonly usage: string;
  readonly least: number;
  readonly most: number;
  readonly options: readonly OptionName[];
  /** What `--status` takes here. */
  readonly statuses?: readonly string[] | undefined;
  readonly summary: string;
  /** Resolves to the exit code. */
  run(context: CommandContext): Promise<number>;
}
