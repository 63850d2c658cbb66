// A parent whose child and grandchild ignore SIGTERM, whose other grandchild left for a session of its own, and which
// has a temp directory. Says who they are, and a guard that takes the place of another one, then waits to be killed.

import { mkdirSync } from "node:fs";
import { processGuard, spawnGuarded } from "@toolplane/processes";
import { say } from "./say.ts";

const directory = process.argv[2] ?? "";

// The grandchildren report through fd 1 of the child.
const stubborn = `
  process.on("SIGTERM", () => undefined);
  const { spawn } = require("node:child_process");
  const ignore = "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1e6)";
  const near = spawn(process.execPath, ["-e", ignore], { stdio: "ignore" });
  const far = spawn(process.execPath, ["-e", ignore], { stdio: "ignore", detached: true });
  console.log(JSON.stringify({ near: near.pid, far: far.pid }));
  setInterval(() => undefined, 1e6);
`;

await processGuard().watch({ label: "directory", removeDir: directory });
mkdirSync(directory);
const child = await spawnGuarded([process.execPath, "-e", stubborn], {
  label: "stubborn",
  env: { PATH: "/usr/bin:/bin" },
  stdio: ["ignore", "pipe", "inherit"],
});
child.child.stdout?.once("data", (chunk: Buffer) => {
  const grandchildren = JSON.parse(chunk.toString("utf8")) as Record<string, number>;
  let guard = processGuard().pid;
  say({ guard, child: child.pid, ...grandchildren });
  setInterval(() => {
    const { pid } = processGuard();
    if (pid === undefined || pid === guard) return;
    guard = pid;
    say({ successor: pid });
  }, 10);
});
