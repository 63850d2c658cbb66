// A program with the plane as its library: one call under a key. With HANG the tool never ends, and the program with it.
//   node own-plane.ts DATA

import { defineTool } from "@toolplane/sdk";
import { openPlane } from "@toolplane/server";

const plane = await openPlane({ data: process.argv[2], project: "own" });
const work = defineTool({
  ...{ name: "work", description: "Works", parameters: { type: "object" } as const, retry: "safe" as const },
  run: async () => {
    process.stdout.write("running\n");
    if (process.env.HANG !== undefined) await new Promise(() => {});
    return "done";
  },
});
await plane.serve([work]);
process.stdout.write(`result ${JSON.stringify(await plane.call("work", { n: 1 }, { key: "once" }))}\n`);
await plane.close();
