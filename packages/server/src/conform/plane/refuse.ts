// How the scripted plane says no: in the words of the real one, or as a proxy in between would.

import { ToolplaneError } from "@toolplane/protocol";
import type { Refusal } from "../planned-call.ts";

const SENTENCES = {
  already_settled: "the call has settled; the first valid result counts",
  lease_lost: "the lease on this call is gone; somebody else runs it now",
  storage_error: "the store is away for a moment; try again",
} as const;

export const problemResponse = (error: ToolplaneError): Response =>
  Response.json({ error: error.toWire() }, { status: error.http });

export const proxyPage = (): Response =>
  new Response("<html><body><h1>Internal Server Error</h1></body></html>\n", {
    status: 500,
    headers: { "content-type": "text/html" },
  });

export const refuse = (refusal: Refusal): Response =>
  refusal === "proxy_page" ? proxyPage() : problemResponse(new ToolplaneError(refusal, SENTENCES[refusal]));

export const noSuch = (what: string): Response =>
  problemResponse(new ToolplaneError("not_found", `there is no ${what}`));
