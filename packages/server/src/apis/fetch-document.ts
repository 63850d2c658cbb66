// Fetches an OpenAPI document under the egress guard: public https, or an address that the operator allows.

import { createEgress } from "@toolplane/egress";
import type { AllowedOrigin } from "@toolplane/egress/policy";
import { ToolplaneError } from "@toolplane/protocol";

export type FetchDocument = (url: string, signal: AbortSignal) => Promise<string>;

const LIMITS = { bodyBytes: 32 * 1024 * 1024, totalMs: 120_000 };
const REDIRECTS = 5;

export const createDocumentFetch =
  (allow: readonly AllowedOrigin[]): FetchDocument =>
  async (url, signal) => {
    const egress = createEgress({ hosts: "any", allow, redirects: REDIRECTS, limits: LIMITS });
    try {
      const headers = { accept: "application/json, application/yaml, text/yaml, */*;q=0.5" };
      const response = await egress.fetch(url, { headers, signal });
      if (response.ok) return await response.text();
      await response.body?.cancel();
      throw new ToolplaneError("upstream_unavailable", `its address answered with HTTP ${response.status}`);
    } finally {
      await egress.close();
    }
  };
