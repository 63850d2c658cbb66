// The version, from the one place that has it: the package's manifest, two levels up from source and build alike.

import { readFileSync } from "node:fs";
import { isRecord } from "@toolplane/protocol";

export const readVersion = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return isRecord(manifest) && typeof manifest.version === "string" ? manifest.version : "unknown";
};
