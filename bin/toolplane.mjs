#!/usr/bin/env node
// The `toolplane` command of the repository: the server package's own.

import "@toolplane/server/launcher";
