import { describe, expect, test } from "vitest";
import { headersFromHttp } from "./http-headers.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });

describe("headers over HTTP", () => {
  test("[UTP-2.1-3] are found in any case and spelled as on the bus", () => {
    const expected = { "CG-Agent-Id": "helper", "CG-Turn-Epoch": "3", traceparent: "t" };
    const record = { "cg-agent-id": "helper", "CG-TURN-EPOCH": "3", Traceparent: "t" };
    expect(headersFromHttp(record)).toEqual(expected);
    expect(headersFromHttp(new Headers(record))).toEqual(expected);
    expect(headersFromHttp(new Map(Object.entries(record)))).toEqual(expected);
    expect(headersFromHttp(undefined)).toEqual({});
  });

  test("[SEC-2-4] only protocol headers are taken", () => {
    const record = {
      authorization: "Bearer secret",
      cookie: "a=b",
      host: "x",
      "x-forwarded-for": "é",
      "cg-agent-id": "helper",
    };
    expect(headersFromHttp(record)).toEqual({ "CG-Agent-Id": "helper" });
  });

  test("[UTP-2.1-6] the removed CG-Trace-ID is not taken", () => {
    expect(headersFromHttp({ "cg-trace-id": "x" })).toEqual({});
  });

  test("[SEC-2-3] the same header twice must say the same", () => {
    expect(
      headersFromHttp([
        ["cg-agent-id", "a"],
        ["CG-Agent-Id", "a"],
      ]),
    ).toEqual({ "CG-Agent-Id": "a" });
    expect(() =>
      headersFromHttp([
        ["cg-agent-id", "a"],
        ["CG-Agent-Id", "b"],
      ]),
    ).toThrow(refused);
    expect(() => headersFromHttp({ "cg-agent-id": "a", "CG-Agent-Id": "b" })).toThrow(refused);
    expect(() => headersFromHttp({ "cg-agent-id": ["a", "b"] })).toThrow(refused);
  });

  test("[SEC-2-1] values are checked as on the bus", () => {
    expect(() => headersFromHttp({ "cg-agent-id": "a\r\nb" })).toThrow(refused);
    expect(() => headersFromHttp({ "cg-agent-id": "é" })).toThrow(refused);
  });

  test("what is not a header map is refused", () => {
    for (const value of ["text", 3, [3], ["cg-agent-id"], [[3, "x"]]]) {
      expect(() => headersFromHttp(value as never), JSON.stringify(value)).toThrow(refused);
    }
  });
});
