// Removes a folder. A folder that a lent user wrote into is removed with that user's own rights. Another process that can write
// there may put a link in the place of a directory while the folder is emptied; with root's rights the removal would follow it.
// This file is part of the guard's program: it imports nothing but Node.

import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";

const removeAs = (path: string, uid: number): Promise<void> =>
  new Promise((done) => {
    const child = spawn("rm", ["-rf", "--", path], {
      uid,
      gid: uid,
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: "ignore",
    });
    // What cannot be removed stays: it belongs to the lent user, which has ended.
    child.once("error", () => done());
    child.once("exit", () => done());
  });

/** `uid`: the lent user that wrote into it, when there was one. */
export const removeFolder = async (path: string, uid?: number): Promise<void> => {
  if (uid !== undefined) await removeAs(path, uid);
  else await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
};
