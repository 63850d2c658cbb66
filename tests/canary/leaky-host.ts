// The leaky tool in a Node host.

import { createLeak } from "./leaky-tool.ts";

export const tools = [createLeak("CANARY_NODE", (text) => process.stderr.write(text))];
