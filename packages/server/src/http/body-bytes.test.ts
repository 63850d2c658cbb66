import { codeOf } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { createBodyBudget, shareBody } from "./body-budget.ts";
import { readBytes } from "./body-bytes.ts";

interface Sent {
  /** Undefined: never another piece. */
  readonly pieces: readonly (number | undefined)[];
  readonly length?: number;
}

/** A request whose body comes in pieces of so many bytes, and what was asked of it. */
const sending = ({ pieces, length }: Sent) => {
  const left = [...pieces];
  const seen = { pulled: 0, canceled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        seen.pulled += 1;
        if (left.length === 0) return controller.close();
        const size = left.shift();
        if (size === undefined) await new Promise(() => {});
        else controller.enqueue(new Uint8Array(size));
      },
      cancel: () => {
        seen.canceled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const headers = length === undefined ? {} : { "content-length": String(length) };
  return { request: new Request("http://x/", { method: "POST", body, headers, duplex: "half" }), seen };
};

const MiB = 1024 * 1024;

test("[SEC-memory-bodies] a declared length that is too large is refused unread, an undeclared one as soon as it is seen", async () => {
  const declared = sending({ pieces: [100], length: 101 });
  expect(await codeOf(readBytes(declared.request, 100))).toBe("payload_too_large");
  expect(declared.seen.pulled).toBe(0);
  const undeclared = sending({ pieces: [60, 60, 60] });
  expect(await codeOf(readBytes(undeclared.request, 100))).toBe("payload_too_large");
  expect(undeclared.seen).toEqual({ pulled: 2, canceled: true });
  expect((await readBytes(sending({ pieces: [60, 40] }).request, 100)).byteLength).toBe(100);
  expect((await readBytes(sending({ pieces: [MiB], length: MiB }).request, MiB)).byteLength).toBe(MiB);
});

test.each([[undefined], [MiB]])(
  "[SEC-memory-bodies] a body that stops in the middle is given up (declared length: %j)",
  async (length) => {
    const { request, seen } = sending({ pieces: [10, undefined], ...(length === undefined ? {} : { length }) });
    expect(await codeOf(readBytes(request, 2 * MiB, { silenceMs: 5 }))).toBe("bad_request");
    expect(seen.canceled).toBe(true);
  },
);

test("[SEC-memory-bodies] what a token sends at once is bounded, declared or not, until it is answered", async () => {
  const budget = createBodyBudget({ perToken: 2 * MiB, inAll: 3.1 * MiB });
  const open = (tokenId: string, sent: Sent) => {
    const { request, seen } = sending(sent);
    const share = budget.open(tokenId);
    shareBody(request, share);
    return { read: readBytes(request, 16 * MiB), share, seen };
  };
  const whole = { pieces: [1.5 * MiB], length: 1.5 * MiB };
  const first = open("a", whole);
  await first.read;
  const second = open("a", whole);
  expect(await codeOf(second.read)).toBe("rate_limited");
  expect(second.seen.pulled).toBe(0);
  const trickling = open("a", { pieces: [0.25 * MiB, 0.5 * MiB] });
  expect(await codeOf(trickling.read)).toBe("rate_limited");
  expect(trickling.seen.canceled).toBe(true);
  trickling.share[Symbol.dispose]();
  // Others have their own share, up to what there is for all; what is small passes that.
  expect(await codeOf(open("b", { pieces: [1.75 * MiB], length: 1.75 * MiB }).read)).toBe("rate_limited");
  const other = open("b", whole);
  await other.read;
  await open("c", { pieces: [1_000], length: 1_000 }).read;
  expect(await codeOf(open("c", { pieces: [MiB], length: MiB }).read)).toBe("rate_limited");
  first.share[Symbol.dispose]();
  await open("a", whole).read;
});

test("[SEC-memory-bodies] nothing is held when all are answered", () => {
  const budget = createBodyBudget({ perToken: 100, inAll: 100 });
  for (let n = 0; n < 5; n += 1) {
    using share = budget.open("a");
    share.take(100);
    expect(budget.held()).toBe(100);
  }
  expect(budget.held()).toBe(0);
});

test.each([
  ["of a declared length", { pieces: [1, undefined], length: 10 }],
  ["of no declared length", { pieces: [1, 1, undefined] }],
  ["the beginning of a large one", { pieces: [1, 1, undefined], length: MiB }],
])("[SEC-memory-arriving] a small body has a time as a whole: %s", async (_, sent) => {
  const { request } = sending(sent);
  await expect(readBytes(request, 2 * MiB, { silenceMs: 60_000, smallMs: 5 })).rejects.toMatchObject({
    code: "bad_request",
    message: "the body came too slowly: it had 0.005 seconds; send it again",
  });
});

test("[SEC-memory-arriving] a large body that keeps coming is not cut off with the small ones", async () => {
  const { request } = sending({ pieces: [MiB, undefined], length: 2 * MiB });
  await expect(readBytes(request, 2 * MiB, { silenceMs: 5, smallMs: 1 })).rejects.toMatchObject({
    message: expect.stringContaining("stopped in the middle"),
  });
});
