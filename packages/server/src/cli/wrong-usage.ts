// The command line was written wrong: exit code 2, and nothing was sent anywhere.

import { UsageError } from "@toolplane/protocol";

export class WrongUsage extends UsageError {
  /** The command whose help says how it is written. */
  readonly command: string | undefined;

  constructor(message: string, command?: string) {
    super(message);
    this.command = command;
  }
}
