#!/usr/bin/env node
// The `toolplane-host` command: runs a module as a tool host. Its program comes with the sdk package.

import { refuseCommand, requireNode } from "../scripts/launcher/require-node.mjs";

requireNode("toolplane-host");
refuseCommand("toolplane-host", "see the status table in README.md for what is");
