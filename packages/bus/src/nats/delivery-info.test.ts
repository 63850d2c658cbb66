import fc from "fast-check";
import { expect, test } from "vitest";
import { tryParseDeliveryInfo } from "./delivery-info.ts";

test.each<readonly [string, { attempt: number; origin: string } | undefined]>([
  ["$JS.ACK.cg_cmd_v1r4.d.3.77.80.1700000000000000000.5", { attempt: 3, origin: "cg_cmd_v1r4.77.1700000000000000000" }],
  [
    "$JS.ACK._.hash.cg_cmd_v1r4.d.1.2.3.1700000000000000000.0",
    { attempt: 1, origin: "cg_cmd_v1r4.2.1700000000000000000" },
  ],
  [
    "$JS.ACK.hub.hash.cg_cmd_v1r4.d.12.34.3.1700000000000000000.0.rnd",
    { attempt: 12, origin: "cg_cmd_v1r4.34.1700000000000000000" },
  ],
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
