// A program that calls tools and runs an agent. TOOLPLANE_URL, TOOLPLANE_TOKEN and TOOLPLANE_PROJECT say where.
import { connect, ToolplaneError } from "@toolplane/sdk/client";

const plane = connect();
const texts = ["to be or not to be", "that is the question"];
const counts = await Promise.all(texts.map((text) => plane.call<{ total: number }>("word_count", { text })));
process.stdout.write(`${counts.map(({ total }) => total).join(" and ")} words\n`);

const turn = plane.run("helper", "to be or not to be");
for await (const event of turn) if (event.type === "call") process.stdout.write(`${event.toolName}: ${event.phase}\n`);
process.stdout.write(`${String(await turn.deliverable())}\n`);

await plane.call("fail", { message: "not today" }).catch((error: unknown) => {
  if (error instanceof ToolplaneError) process.stdout.write(`${error.code}: ${error.message}\n`);
});
