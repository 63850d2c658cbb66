// What `toolplane up` is started with. A flag that was not given is undefined: only then may the environment or the
// configuration file decide (flags win over TOOLPLANE_*, TOOLPLANE_* wins over toolplane.yaml).

import { listenForStop } from "./stop-signals.ts";

export interface UpOptions {
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  /** The data directory; `.toolplane` unless told. */
  readonly data?: string | undefined;
  readonly databaseUrl?: string | undefined;
  readonly natsUrl?: string | undefined;
  /** As typed: `api,worker` split at the commas. */
  readonly roles?: readonly string[] | undefined;
  /** The configuration file; without it `toolplane.yaml` is read if it is there. */
  readonly config?: string | undefined;
  readonly demo?: boolean | undefined;
  readonly ephemeral?: boolean | undefined;
  /** Errors come with their stack. */
  readonly verbose?: boolean | undefined;
}

/** The program's output and signals; a test brings its own. */
export interface UpIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative paths start here. */
  readonly cwd: string;
  /** Tells of every request to stop (a signal, a closed terminal); returns the way to stop listening. */
  readonly onStop: (heard: () => void) => () => void;
  /** Ends the process now. */
  readonly exit: (code: number) => void;
}

/** This process's own streams and signals. */
export const processIo = (): UpIo => ({
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  onStop: (heard) => listenForStop(process, heard),
  exit: (code) => process.exit(code),
});
