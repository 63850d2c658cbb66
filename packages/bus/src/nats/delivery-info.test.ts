import fc from "fast-check";
import { expect, test } from "vitest";
import { tryParseDeliveryInfo } from "./delivery-info.ts";

test.each<readonly [string, { attempt: number; sequence: number } | undefined]>([
  ["$JS.ACK.cg_cmd_v1r4.d.3.77.80.1700000000000000000.5", { attempt: 3, sequence: 77 }],
  ["$JS.ACK._.hash.cg_cmd_v1r4.d.1.2.3.1700000000000000000.0", { attempt: 1, sequence: 2 }],
  ["$JS.ACK.hub.hash.cg_cmd_v1r4.d.12.34.3.1700000000000000000.0.rnd", { attempt: 12, sequence: 34 }],
  ["$JS.ACK.cg_cmd_v1r4.d.0.77.80.1.5", undefined],
  ["$JS.ACK.cg_cmd_v1r4.d.x.77.80.1.5", undefined],
  ["$JS.ACK.a.b.c.d.e.f.g.h", undefined],
  ["_INBOX.a.b", undefined],
  ["", undefined],
])("%s", (reply, info) => {
  expect(tryParseDeliveryInfo(reply)).toEqual(info);
});

test("never throws", () => {
  fc.assert(fc.property(fc.string(), (text) => void tryParseDeliveryInfo(`$JS.ACK.${text}`)));
});
