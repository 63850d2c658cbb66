// The version of this program: its package's own.

import { readFileSync } from "node:fs";

const MANIFEST = new URL("../../package.json", import.meta.url);

export const readVersion = (): string =>
  (JSON.parse(readFileSync(MANIFEST, "utf8")) as { readonly version: string }).version;
