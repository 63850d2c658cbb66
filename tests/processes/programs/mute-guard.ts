// A parent whose guard never confirms anything: what it starts must never get to run. Says the waiting child's number.

import { type Guard, spawnGuarded } from "@toolplane/processes";
import { say } from "./say.ts";

const file = process.argv[2] ?? "";
const mute: Guard = {
  pid: undefined,
  watch: (request) => {
    say({ waiting: request.pid });
    return new Promise(() => undefined);
  },
  close: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};
setInterval(() => undefined, 1_000_000);
await spawnGuarded(["touch", file], { label: "touch", env: { PATH: "/usr/bin:/bin" }, guard: mute });
