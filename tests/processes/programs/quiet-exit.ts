// A parent that leaves a child behind and ends by itself (`exit`), or watches nothing any more and ends (`empty`).

import { processGuard, spawnGuarded } from "@toolplane/processes";
import { say } from "./say.ts";

const child = await spawnGuarded(["sleep", "1000"], { label: "left behind", env: { PATH: "/usr/bin:/bin" } });
if (process.argv[2] === "empty") await child.end({ signal: "SIGKILL" });
say({ guard: processGuard().pid, child: child.pid });
if (process.argv[2] === "exit") process.exit(0);
