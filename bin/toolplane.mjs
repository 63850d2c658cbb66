#!/usr/bin/env node
// The `toolplane` command. Its program comes with the server package.

import { refuseCommand, requireNode } from "../scripts/launcher/require-node.mjs";

requireNode("toolplane");
refuseCommand("toolplane", "see the status table in README.md for what is");
