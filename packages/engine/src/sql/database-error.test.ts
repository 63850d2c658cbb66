import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { understandDatabaseError } from "./database-error.ts";

const driverError = (fields: object): Error => Object.assign(new Error('duplicate key (secret)=("sk-live-1")'), fields);

describe("understandDatabaseError", () => {
  test.each([
    ["the card trigger", { code: "TP007" }, "conflict"],
    ["a card's id that is taken", { code: "23505", constraint: "cards_pkey" }, "conflict"],
    ["a NUL character", { code: "22021" }, "bad_request"],
    ["bad data", { code: "22P02" }, "internal_error"],
    ["a broken constraint", { code: "23505", constraint: "calls_pkey" }, "internal_error"],
    ["a missing right", { code: "42501" }, "internal_error"],
    ["a deadlock", { code: "40P01" }, "storage_error"],
    ["a shutdown", { code: "57P01" }, "storage_error"],
    ["too many connections", { code: "53300" }, "storage_error"],
    ["a refused connection", { code: "ECONNREFUSED" }, "storage_error"],
    ["a timeout without a code", {}, "storage_error"],
  ])("%s", (_what, fields, code) => {
    expect(understandDatabaseError(driverError(fields), "calls.settle")).toMatchObject({ code });
  });

  test.each([
    ["connect", "ECONNREFUSED", "there is no connection to the database"],
    ["calls.settle", "53100", "the database's disk is full: make room there"],
    ["calls.settle", "57P01", "the database did not carry out statement calls.settle"],
  ])("%s with %s is said in words", (statement, code, message) => {
    expect(understandDatabaseError(driverError({ code }), statement)).toMatchObject({ code: "storage_error", message });
  });

  test("names statement, state and constraint", () => {
    const error = understandDatabaseError(driverError({ code: "23505", constraint: "calls_pkey" }), "calls.settle");
    expect(error).toMatchObject({
      detail: { statement: "calls.settle", sqlstate: "23505", constraint: "calls_pkey" },
    });
  });

  test("[INV-I8-E1] what the server said stays in the cause", () => {
    for (const code of ["TP007", "23505", "22P02", "57P01", undefined]) {
      const error = understandDatabaseError(driverError({ code, detail: "sk-live-1" }), "x") as ToolplaneError;
      expect(JSON.stringify(error.toWire())).not.toContain("sk-live-1");
    }
  });

  test.each([new ToolplaneError("conflict", "x"), new UsageError("x")])("%s passes as it is", (error) => {
    expect(understandDatabaseError(error, "x")).toBe(error);
  });

  test.each([undefined, null, "text", 7])("even %s becomes a typed error", (thrown) => {
    expect(understandDatabaseError(thrown, "x")).toMatchObject({ code: "storage_error" });
  });
});
