// A tool service in its smallest form: it asks for work, answers it, and asks again.

import type { HttpStack } from "./http-stack.ts";

interface Claimed {
  readonly commands: readonly { readonly headers: Record<string, string>; readonly lease: { readonly id: string } }[];
}

/** Claims one after the other until the server lets it go; every call gets the same result. */
export const serveClaims = async (http: HttpStack, result: object, over: AbortSignal): Promise<void> => {
  const token = await http.toolToken();
  while (!over.aborted) {
    const claim = await http.raw("/projects/demo/tool-services/test/claim", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ max: 4, wait_seconds: 30 }),
      signal: over,
    });
    for (const { headers, lease } of ((await claim.json()) as Claimed).commands) {
      const report = { lease: lease.id, status: "success", result };
      await http.send("POST", `/projects/demo/calls/${headers["CG-Tool-Call-Id"]}/result`, report, { token });
    }
  }
};
