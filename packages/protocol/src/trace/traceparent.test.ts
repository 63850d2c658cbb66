import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UsageError } from "../errors/toolplane-error.ts";
import {
  childTraceparent,
  createTraceparent,
  ensureTraceparent,
  parseTraceId,
  parseTraceparent,
  tryParseTraceparent,
} from "./traceparent.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const GOOD = `00-${TRACE}-${SPAN}-01`;
const ids = { traceId: () => "01890a5d-ac96-774b-bcce-b302099a8057", spanId: () => "00f067aa0ba902b7" };

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
const nonZero = (length: number) => hex(length).filter((text) => /[^0]/.test(text));
const traceparents = fc.record({
  version: hex(2).filter((text) => text !== "ff"),
  traceId: nonZero(32),
  spanId: nonZero(16),
  flags: hex(2),
});

describe("traceparent", () => {
  test("[UTP-2.5-1] is read in any case and written in lower case", () => {
    const parts = { version: "00", traceId: TRACE, spanId: SPAN, flags: "01" };
    expect(parseTraceparent(GOOD)).toEqual(parts);
    expect(parseTraceparent(GOOD.toUpperCase())).toEqual(parts);
    expect(ensureTraceparent(GOOD.toUpperCase(), null, ids)).toBe(GOOD);
  });

  test("[UTP-2.5-1] any good one is read and passed on as it is", () => {
    fc.assert(
      fc.property(traceparents, (value) => {
        const text = `${value.version}-${value.traceId}-${value.spanId}-${value.flags}`;
        expect(parseTraceparent(text)).toEqual(value);
        expect(ensureTraceparent(text, null, ids)).toBe(text);
      }),
    );
  });

  const bad: readonly (readonly [string, unknown])[] = [
    ["nothing", ""],
    ["no string", 7],
    ["too short", GOOD.slice(0, -1)],
    ["too long", `${GOOD}-00`],
    ["a letter that is not a hex digit", GOOD.replace("b7ad", "g7ad")],
    ["a dash in the wrong place", `00_${TRACE}-${SPAN}-01`],
    ["blanks around", ` ${GOOD.slice(2)}`],
    ["digits of another script", GOOD.replace("0a", "٠a")],
  ];
  test.each(bad)("[UTP-2.5-1] %s is refused", (_name, text) => {
    expect(() => parseTraceparent(text)).toThrow(refused);
    expect(tryParseTraceparent(text)).toBeUndefined();
  });

  const forbidden: readonly (readonly [string, string])[] = [
    ["version ff", `ff-${TRACE}-${SPAN}-01`],
    ["version FF", `FF-${TRACE}-${SPAN}-01`],
    ["an all-zero trace id", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["an all-zero span id", `00-${TRACE}-${"0".repeat(16)}-01`],
  ];
  test.each(forbidden)("[UTP-2.5-2] [UTP-W31] %s is refused", (_name, text) => {
    expect(() => parseTraceparent(text)).toThrow(refused);
    expect(() => ensureTraceparent(text, null, ids)).toThrow(refused);
    expect(() => childTraceparent(text, ids)).toThrow(refused);
  });
});

describe("trace ids", () => {
  test("[UTP-2.5-3] a dashed UUID is compacted, 32 hex digits are lowered", () => {
    expect(parseTraceId("0AF76519-16CD-43DD-8448-EB211C80319C")).toBe(TRACE);
    expect(parseTraceId(TRACE.toUpperCase())).toBe(TRACE);
  });

  const bad: readonly unknown[] = [
    "",
    "abc",
    "0".repeat(32),
    "00000000-0000-0000-0000-000000000000",
    "0af7651-916cd-43dd-8448-eb211c80319c0",
    `{${TRACE}}`,
    null,
    12,
  ];
  test.each(bad)("[UTP-2.5-3] %j is refused", (value) => {
    expect(() => parseTraceId(value)).toThrow(refused);
  });
});

describe("making and continuing", () => {
  test("[UTP-2.5-4] a new one has version 00, a new trace, a new span and flags 01", () => {
    expect(createTraceparent(ids)).toBe("00-01890a5dac96774bbcceb302099a8057-00f067aa0ba902b7-01");
    expect(createTraceparent(ids, TRACE)).toBe(`00-${TRACE}-00f067aa0ba902b7-01`);
    expect(() => createTraceparent(ids, "nonsense")).toThrow(refused);
  });

  test("[UTP-2.5-5] an existing one is kept with its version and flags", () => {
    const given = `01-${TRACE}-${SPAN}-00`;
    expect(ensureTraceparent(given, null, ids)).toBe(given);
    expect(ensureTraceparent(` ${given.toUpperCase()} `, TRACE, ids)).toBe(given);
  });

  test("[UTP-2.5-5] another known trace_id is a violation that says so", () => {
    expect(() => ensureTraceparent(GOOD, "1".repeat(32), ids)).toThrow(/trace_id mismatch/);
    expect(() => ensureTraceparent(GOOD, "1".repeat(32), ids)).toThrow(refused);
  });

  test("[UTP-2.5-4] nothing or blank makes a new one in the known trace", () => {
    for (const nothing of [undefined, null, "", "  "]) {
      expect(ensureTraceparent(nothing, TRACE, ids)).toBe(`00-${TRACE}-00f067aa0ba902b7-01`);
    }
  });

  test("[UTP-2.5-6] a child span keeps the trace and has its own span and flags 01", () => {
    expect(childTraceparent(`01-${TRACE}-${SPAN}-00`, ids)).toBe(`00-${TRACE}-00f067aa0ba902b7-01`);
    expect(() => childTraceparent("", ids)).toThrow(refused);
  });

  test.each(["", "0".repeat(16), "xyz", "b7ad6b716920333"])(
    "a source of ids that gives %j is a programming mistake",
    (spanId) => {
      expect(() => createTraceparent({ ...ids, spanId: () => spanId })).toThrow(UsageError);
    },
  );
});
