#!/usr/bin/env node
// The `toolplane-host` command of the repository: the sdk package's own.

import "@toolplane/sdk/host-launcher";
