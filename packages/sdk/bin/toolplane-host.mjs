#!/usr/bin/env node
// The `toolplane-host` command. What needs a newer Node is loaded only once it is known to be one.

import { requireNode } from "./require-node.mjs";

requireNode("toolplane-host");
import("./launch-host.mjs").then(({ launch }) => launch(process.argv.slice(2)));
