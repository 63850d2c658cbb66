// The `toolplane` command as its launcher runs it, with the program beside it instead of behind a path: this is what a test run
// compiles once (compile-programs.ts).

import { main } from "@toolplane/server/command-line";
import { launch } from "@toolplane/server/launch";

await launch(process.argv.slice(2), async () => ({ main }));
