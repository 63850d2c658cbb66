// The plane inside this program: nothing else to start, and nothing is lost when it dies.
//   npx node --conditions=source examples/callers/open-plane.ts
import { defineTool } from "@toolplane/sdk";
import { openPlane } from "@toolplane/server";

const greet = defineTool({
  name: "greet",
  description: "Greet somebody",
  retry: "safe",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  run: async ({ name }) => ({ text: `Hello, ${name}!` }),
});

await using plane = await openPlane({ data: ".toolplane" }); // or { databaseUrl }
await plane.serve([greet]);
const { text } = await plane.call<{ text: string }>("greet", { name: "Ada" }, { key: "greet-ada" });
process.stdout.write(`${text}\n`);
