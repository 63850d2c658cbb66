// The failing tools as a service in TypeScript.

import { serveTools } from "@toolplane/sdk";
import { waysToFail } from "./ways.ts";

await serveTools(waysToFail("ts_"), { target: "ts" });
