// A tool host with one bad habit: `bad-host HABIT [extended]`.

import { FULL_HABITS } from "./full-habits.ts";
import { type Habit, type HostCall, handle } from "./host-side.ts";
import { LIFE_HABITS } from "./life-habits.ts";
import { OUTPUT_HABITS } from "./output-habits.ts";

const HABITS: Readonly<Record<string, Habit>> = { ...OUTPUT_HABITS, ...LIFE_HABITS, ...FULL_HABITS };

const [name = "", mode] = process.argv.slice(2);
const habit = HABITS[name];
if (habit === undefined) process.exit(64);

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => {
  rest += chunk;
  // Splitting copies; a request of megabytes arrives in many chunks.
  if (!chunk.includes("\n")) return;
  const lines = rest.split("\n");
  rest = lines.pop() ?? "";
  for (const text of lines) handle(JSON.parse(text) as HostCall, habit, mode === "extended");
});
process.stdin.on("end", () => {
  if (name !== "ignores_sigterm") process.exit(0);
});
