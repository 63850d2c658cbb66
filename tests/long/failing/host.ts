// The failing tools as a host: `toolplane-host` serves what a module exports.

import { waysToFail } from "./ways.ts";

export const tools = waysToFail("");
