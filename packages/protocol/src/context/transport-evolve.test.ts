import { describe, expect, test } from "vitest";
import { createContext, evolveContext } from "./context.ts";
import { traceparentOf, withChildSpan, withNormalizedTransport, withTraceTransport } from "./transport-evolve.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const NEW_TRACE = "1".repeat(32);
const NEW_SPAN = "2".repeat(16);
const ids = { traceId: () => NEW_TRACE, spanId: () => NEW_SPAN };
const context = createContext({
  projectId: "demo",
  agentId: "helper",
  recursionDepth: 2,
  traceId: TRACE,
  headers: { traceparent: TRACEPARENT, tracestate: "a=1", "CG-Recursion-Depth": "2" },
});

describe("transport", () => {
  test("[UTP-2.5-10] withNormalizedTransport takes the trace id from traceparent", () => {
    const next = withNormalizedTransport(
      context,
      { traceparent: `00-${NEW_TRACE}-${NEW_SPAN}-01`, tracestate: " " },
      ids,
    );
    expect(next.traceId).toBe(NEW_TRACE);
    expect(next.headers).toEqual({ traceparent: `00-${NEW_TRACE}-${NEW_SPAN}-01`, "CG-Recursion-Depth": "2" });
  });

  test("[UTP-2.5-5] a known trace that differs is a violation", () => {
    expect(() => withNormalizedTransport(context, { traceparent: TRACEPARENT }, ids, { traceId: NEW_TRACE })).toThrow(
      /trace_id mismatch/,
    );
  });

  test("[UTP-W01] [INV-I9] a depth in the headers changes nothing: the computed one does", () => {
    const headers = { traceparent: TRACEPARENT, "CG-Recursion-Depth": "9" };
    expect(withNormalizedTransport(context, headers, ids)).toMatchObject({
      recursionDepth: 2,
      headers: { "CG-Recursion-Depth": "2" },
    });
    expect(withNormalizedTransport(context, headers, ids, { depth: 3 })).toMatchObject({
      recursionDepth: 3,
      headers: { "CG-Recursion-Depth": "3" },
    });
    expect(evolveContext(context, { headers })).toMatchObject({
      recursionDepth: 2,
      headers: { "CG-Recursion-Depth": "2" },
    });
    expect(() => withNormalizedTransport(context, { "CG-Recursion-Depth": "x" }, ids)).toThrow(refused);
  });
});

describe("trace transport", () => {
  test("[UTP-3-7] text sets, empty text removes, nothing keeps", () => {
    expect(withTraceTransport(context, {}, ids).headers).toEqual(context.headers);
    const set = withTraceTransport(
      context,
      { traceparent: `00-${NEW_TRACE}-${NEW_SPAN}-01`, tracestate: "b=2", parentTraceparent: TRACEPARENT },
      ids,
    );
    expect(set.headers).toEqual({
      traceparent: `00-${NEW_TRACE}-${NEW_SPAN}-01`,
      tracestate: "b=2",
      "CG-Parent-Traceparent": TRACEPARENT,
      "CG-Recursion-Depth": "2",
    });
    const removed = withTraceTransport(set, { traceparent: "", tracestate: "", parentTraceparent: " " }, ids);
    expect(removed.headers).toEqual({ traceparent: `00-${NEW_TRACE}-${NEW_SPAN}-01`, "CG-Recursion-Depth": "2" });
  });

  test("[UTP-3-7] other headers to start from may be given", () => {
    expect(withTraceTransport(context, { baseHeaders: { a: "1" }, traceId: TRACE }, ids).headers).toEqual({
      a: "1",
      traceparent: `00-${TRACE}-${NEW_SPAN}-01`,
      "CG-Recursion-Depth": "2",
    });
  });

  test("[UTP-2.5-6] [UTP-2.5-7] a child span stays in its trace and keeps tracestate", () => {
    const child = withChildSpan(context, ids);
    expect(child.traceId).toBe(TRACE);
    expect(child.headers).toMatchObject({ traceparent: `00-${TRACE}-${NEW_SPAN}-01`, tracestate: "a=1" });
  });

  test("the traceparent of a context known only by its trace id is the root of that trace", () => {
    expect(traceparentOf(evolveContext(context, { headers: null }), ids)).toBe(`00-${TRACE}-${NEW_SPAN}-01`);
    expect(traceparentOf(context, ids)).toBe(TRACEPARENT);
  });
});
