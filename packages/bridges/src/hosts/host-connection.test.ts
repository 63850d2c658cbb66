import { encodeHostEvent, encodeHostFailure, encodeHostRequest, encodeHostSuccess } from "@toolplane/protocol/host";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBorder } from "./border.ts";
import { type Ask, createHostConnection } from "./host-connection.ts";

const open = (lineBytes = 10_000, border = createBorder(new Map())) => {
  const reports: string[] = [];
  const busy: boolean[] = [];
  const connection = createHostConnection({
    stdin: {
      write: (_text, done) => {
        done();
        return true;
      },
      end: () => undefined,
    },
    lineBytes,
    diagnostics: { report: (kind) => reports.push(kind) },
    border,
    pid: 1,
    onBroken: () => undefined,
    onBusy: (is) => busy.push(is),
  });
  const heard: unknown[] = [];
  const ask = (id: string): Ask => {
    const made: Ask = {
      id,
      method: "execute_tool",
      order: 0,
      line: encodeHostRequest(id, "execute_tool", {}),
      written: false,
      onEvent: (type, payload) => heard.push([id, type, payload]),
      onAnswer: (response) => heard.push([id, response.ok ? response.value : response.error.type]),
      onFault: (error) => heard.push([id, error.code]),
      onTooLong: () => heard.push([id, "too long"]),
    };
    connection.send(made);
    return made;
  };
  return { connection, reports, heard, busy, ask, say: (text: string) => connection.push(Buffer.from(text)) };
};

describe("answers", () => {
  test("[SEC-9-2] the first one counts, an id nobody sent and a second answer are reported and dropped", () => {
    const { ask, say, heard, reports } = open();
    ask("a");
    say(
      encodeHostSuccess("b", 1) +
        encodeHostSuccess("a", 2) +
        encodeHostSuccess("a", 3) +
        encodeHostEvent("a", "part", 4),
    );
    expect(heard).toEqual([["a", 2]]);
    expect(reports).toEqual(["unknown_id", "already_answered", "already_answered"]);
  });

  test("[SEC-9-2] an id that was forgotten or taken back is not answered any more", () => {
    const { connection, ask, say, heard, reports } = open();
    connection.forget(ask("a"));
    expect(connection.takeBack(ask("b"))).toBe(true);
    say(encodeHostSuccess("a", 1) + encodeHostSuccess("b", 1));
    expect([heard, reports]).toEqual([[], ["already_answered", "unknown_id"]]);
  });

  test("[HOST-4-22] events reach their request in order, before its answer", () => {
    const { ask, say, heard } = open();
    ask("a");
    ask("b");
    say(encodeHostEvent("a", "part", 1) + encodeHostEvent("b", "part", 2) + encodeHostEvent("a", "part", 3));
    say(encodeHostFailure("a", { type: "Error", detail: "" }));
    expect(heard).toEqual([
      ["a", "part", 1],
      ["b", "part", 2],
      ["a", "part", 3],
      ["a", "Error"],
    ]);
  });
});

describe("[STALL-8] a long line", () => {
  const LONG = 4 * 1024 * 1024;

  test("is read in turns, and what follows it keeps its order; the end waits for all of it", async () => {
    const { connection, ask, say, heard, busy } = open(2 * LONG);
    ask("a");
    ask("b");
    say(
      encodeHostEvent("a", "part", "x".repeat(LONG)) + encodeHostSuccess("a", "after") + encodeHostSuccess("b", "last"),
    );
    expect([heard, busy]).toEqual([[], [true]]);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await new Promise<void>((done) => connection.end(done));
    await new Promise((done) => setImmediate(done));
    clearImmediate(next);
    expect(heard.map((told) => (told as unknown[]).slice(0, 2))).toEqual([
      ["a", "part"],
      ["a", "after"],
      ["b", "last"],
    ]);
    expect(busy).toEqual([true, false]);
    // Others had their turn between decoding, weighing, reading, looking for secrets and telling.
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  test("is scrubbed, refused and reported like a short one", async () => {
    const secret = "sk-of-the-host";
    const { connection, ask, say, heard, reports } = open(2 * LONG, createBorder(new Map([["KEY", secret]])));
    for (const id of ["a", "b", "c"]) ask(id);
    const filler = "x".repeat(LONG);
    say(encodeHostSuccess("a", [secret, filler]));
    say(`{"v":1,"id":"b","ok":true,"result":"${filler}"}\n`);
    say(`{"v":1,"id":"c","ok":true,"result":{"value":[${"0,".repeat(300_000)}0]}}\n`);
    say(`${filler}\n`);
    await new Promise<void>((done) => connection.end(done));
    expect(JSON.stringify(heard)).not.toContain(secret);
    expect(heard.map((told) => (told as unknown[]).slice(0, 2))).toEqual([
      ["a", [expect.stringContaining("KEY"), filler]],
      ["b", "protocol_violation"],
      ["c", "too long"],
      ["c", "result_too_large"],
    ]);
    expect(reports).toEqual(["unreadable_message", "line_too_long", "stray_output"]);
  });
});

describe("what is not a message", () => {
  test.each([
    ["text", "Loading...\n", ["stray_output"]],
    ["JSON that is not a message", "[1]\n{}\n", ["stray_output", "stray_output"]],
    ["an empty line", "\n\n", []],
    ["a request", encodeHostRequest("a", "execute_tool", {}), ["unexpected_request"]],
    ["an error for no request", encodeHostFailure(null, { type: "ParseError", detail: "" }), ["host_error"]],
    ["an event without a type", '{"v":1,"id":"a","event":{}}\n', ["unreadable_message"]],
    ["a request of another version", '{"v":2,"id":"a","method":"x"}\n', ["unreadable_message"]],
  ])("[HOST-4-12] %s changes nothing", (_name, text, expected) => {
    const { ask, say, heard, reports, connection } = open();
    ask("a");
    say(text);
    expect([heard, reports, connection.open().size]).toEqual([[], expected, 1]);
  });

  test.each([
    ["another version", '{"v":2,"id":"a","ok":true,"result":{"value":1}}\n'],
    ["no result", '{"v":1,"id":"a","ok":true}\n'],
    ["neither ok nor an event", '{"v":1,"id":"a"}\n'],
    ["too deep", `{"v":1,"id":"a","ok":true,"result":{"value":${"[".repeat(600)}${"]".repeat(600)}}}\n`],
  ])("[HOST-4-12] an answer that cannot be understood ends its request: %s", (_name, text) => {
    const { ask, say, heard, connection } = open();
    ask("a");
    say(text);
    expect([heard, connection.open().size]).toEqual([[["a", "protocol_violation"]], 0]);
  });

  test("[HOST-4-12] whatever bytes come, nothing is thrown and an open request stays open or is answered", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 100 })), (chunks) => {
        const { ask, connection, say, heard } = open(200);
        ask("a");
        for (const chunk of chunks) connection.push(Buffer.from(chunk));
        say(`\n${encodeHostSuccess("a", "fine")}`);
        connection.end(() => undefined);
        expect(heard.filter((entry) => (entry as unknown[])[1] === "fine").length).toBeLessThanOrEqual(1);
        expect(connection.open().size).toBe(0);
      }),
    );
  });
});

describe("a line over the limit", () => {
  const long = "x".repeat(400);

  test("[HOST-4-11] belongs to the id at its beginning, and is its answer", () => {
    const { ask, say, heard, connection } = open(200);
    ask("a");
    ask("b");
    say(`{"v":1,"id":"b","ok":true,"result":{"value":"${long}`);
    expect(heard).toEqual([["b", "too long"]]);
    say('"}}\n');
    expect(heard).toEqual([
      ["b", "too long"],
      ["b", "result_too_large"],
    ]);
    expect(
      connection
        .open()
        .list()
        .map(({ id }) => id),
    ).toEqual(["a"]);
  });

  test("[HOST-4-11] or to the id at its end; an event leaves its request open", () => {
    const { ask, say, heard, connection } = open(200);
    ask("a");
    ask("b");
    say(`{"v":1,"ok":true,"result":{"value":"${long}"},"id":"a"}\n`);
    say(`{"v":1,"id":"b","event":{"type":"part","payload":"${long}"}}\n`);
    expect(heard).toEqual([
      ["a", "too long"],
      ["a", "result_too_large"],
      ["b", "too long"],
    ]);
    expect(
      connection
        .open()
        .list()
        .map(({ id }) => id),
    ).toEqual(["b"]);
  });

  test("[HOST-4-11] one without an id is the only request's, and nobody's among several", () => {
    const one = open(200);
    one.ask("a");
    one.say(long);
    expect(one.heard).toEqual([["a", "too long"]]);
    const two = open(200);
    two.ask("a");
    two.ask("b");
    two.say(`${long}\n${encodeHostSuccess("a", 1)}`);
    expect([two.heard, two.reports]).toEqual([[["a", 1]], ["line_too_long"]]);
  });
});
