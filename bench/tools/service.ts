// A tool service in a process of its own, over HTTP: what people run. Started by run.ts.

import { serveTools } from "@toolplane/sdk";
import { countWords, TARGET } from "./tool.ts";

await serveTools([countWords], { target: TARGET, concurrency: 256 });
process.stdout.write("serving\n");
