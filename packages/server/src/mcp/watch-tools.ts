// Tells when the tools of a project have changed. The registry's bell rings for every project, so fingerprints of its
// tools are compared; streams that are rung at the same moment share the statement that reads them.

import type { Engine } from "@toolplane/engine";

/** Calls `changed` after each change; the returned function ends it. */
export const watchTools = (
  engine: Pick<Engine, "tools" | "doorbell">,
  projectId: string,
  changed: () => void,
): (() => void) => {
  let known: string | undefined;
  let isLooking = false;
  let isRung = false;
  let isOver = false;
  const look = async (): Promise<void> => {
    isRung = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (isRung && !isOver) {
        isRung = false;
        const now = await engine.tools.fingerprint(projectId);
        if (known !== undefined && known !== now && !isOver) changed();
        known = now;
      }
    } catch {
      // The database is away: the next ring looks again.
    } finally {
      isLooking = false;
    }
  };
  const stop = engine.doorbell.listen("registry", () => void look());
  void look();
  return () => {
    isOver = true;
    stop();
  };
};
