// A parent that starts children as fast as it can, each carrying the marker in its arguments, until it is killed.

import { spawnGuarded } from "@toolplane/processes";
import { say } from "./say.ts";

const marker = process.argv[2] ?? "";
for (let count = 1; ; count += 1) {
  const child = await spawnGuarded(["sh", "-c", "sleep 1000; exit", marker], {
    label: "storm",
    env: { PATH: "/usr/bin:/bin" },
  });
  say({ count, pid: child.pid });
}
