import { expect, test } from "vitest";
import { unlessAborted } from "./unless-aborted.ts";

test("[ARCH-9-A6] work is left behind when the signal aborts, before or meanwhile, and only then", async () => {
  const never = new Promise<string>(() => {});
  await expect(unlessAborted(never, AbortSignal.abort())).rejects.toMatchObject({ code: "canceled" });
  const stop = new AbortController();
  const waiting = unlessAborted(never, stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: "canceled" });
  const calm = new AbortController();
  expect(await unlessAborted(Promise.resolve("done"), calm.signal)).toBe("done");
  await expect(unlessAborted(Promise.reject(new RangeError("own")), calm.signal)).rejects.toThrow("own");
});
