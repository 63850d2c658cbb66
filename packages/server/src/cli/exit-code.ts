// The exit codes of a command.

export const EXIT = {
  ok: 0,
  /** The call failed, or the command could not be carried out. */
  failed: 1,
  usage: 2,
  /** The call goes on; the wait ended first. */
  running: 3,
} as const;
