#!/usr/bin/env node
// The `toolplane` command. What needs a newer Node is loaded only once it is known to be one.

import { requireNode } from "./require-node.mjs";

requireNode("toolplane");
import("./launch.mjs").then(({ launch }) => launch(process.argv.slice(2)));
