// The checks that exist and the corpus they are shown with, as the table of checks reads them.

import { CLAUSES, HOST_CLAUSES } from "@toolplane/server/internal";
import { WRONG_NATS_SERVICES, WRONG_SERVICES } from "@toolplane/testkit";
import { WRONG_HOSTS } from "../hosts/check-programs/wrong-hosts.ts";
import type { Corpus } from "./check-table.ts";

export const CORPUS: Corpus = {
  conform: CLAUSES,
  hostCheck: HOST_CLAUSES,
  overHttp: WRONG_SERVICES,
  overNats: WRONG_NATS_SERVICES,
  hosts: WRONG_HOSTS.map(([name, clause]) => ({ name, clause })),
};
