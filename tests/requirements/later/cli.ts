// The command line, the two commands and the configuration.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "API-1-1", source: "interfaces 1", part: "cli", text: "npm ci && npm start ends in ready http://127.0.0.1:7420 and a console link within 60 s without any configuration." },
  { id: "API-2-1", source: "interfaces 2", part: "cli", text: "up prints ready http://HOST:PORT as its last line when ready." },
  { id: "API-2-2", source: "interfaces 2", part: "cli", text: "SIGTERM drains and exits 0; a second one exits at once." },
  { id: "API-2-3", source: "interfaces 2", part: "cli", text: "--ephemeral leaves nothing behind." },
  { id: "API-2-4", source: "interfaces 2", part: "cli", text: "call exits 0 on success, 1 on failure, 2 on wrong usage, 3 when still running at the end of the wait." },
  { id: "API-2-5", source: "interfaces 2", part: "cli", text: "run --follow streams steps and text until the deliverable." },
  { id: "API-2-6", source: "interfaces 2", part: "cli", text: "retry makes a new call with retry_of and never feeds the old turn." },
  { id: "API-2-7", source: "interfaces 2", part: "cli", text: "why says where a call is and what it waits for." },
  { id: "API-2-8", source: "interfaces 2", part: "cli", text: "verify names the first broken link and exits 1." },
  { id: "API-2-9", source: "interfaces 2", part: "cli", text: "token create, list and revoke manage tokens by role, project, actor, targets and time to live." },
  { id: "API-2-11", source: "interfaces 2", part: "cli", text: "conform drives a foreign tool service through the rules and prints pass or fail for each clause." },
  { id: "API-2-12", source: "interfaces 2", part: "cli", text: "export and import carry everything across PostgreSQL versions." },
  { id: "API-2-13", source: "interfaces 2", part: "cli", text: "Every command takes --json, --url and --token, and reads the data directory's token by default." },
  { id: "API-2-14", source: "interfaces 2", part: "cli", text: "An error is one line on stderr with the code and what to do; the stack needs --verbose." },
  { id: "API-2-15", source: "interfaces 2", part: "cli", text: "NO_COLOR and output that is not a terminal are respected." },
  { id: "API-3-1", source: "interfaces 3", part: "cli", text: "Configuration is the file, then TOOLPLANE_* variables, then flags; later wins." },
  { id: "API-3-2", source: "interfaces 3", part: "cli", text: "An unknown key is an error naming the key and its line." },
  { id: "API-3-3", source: "interfaces 3", part: "cli", text: "Two definitions of one name from different sources are conflict naming both." },
  { id: "API-3-4", source: "interfaces 3", part: "cli", text: "Only variables in secrets.allow_env can be named by a tool." },
] as const satisfies readonly Rule[];
