// Tells when the tools of a project have changed. The registry's bell rings for every project, so the tools themselves are compared.

import { type Engine, sha256 } from "@toolplane/engine";
import { allTools } from "../tool-sources/all-tools.ts";

const fingerprint = async (engine: Pick<Engine, "tools">, projectId: string): Promise<string> => {
  const seen: string[] = [];
  for await (const { toolName, definitionHash } of allTools(engine, projectId))
    seen.push(`${toolName} ${definitionHash}`);
  return sha256(seen.join("\n"));
};

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
        const now = await fingerprint(engine, projectId);
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
