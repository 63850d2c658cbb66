// Parts of message schemas that accept any JSON: objects, values, and lists of them.
// A list is one check with one complaint: item by item, ten megabytes of wrong items were five million complaints, which
// took eighteen seconds and two gigabytes to collect.

import { z } from "zod";
import { isRecord, type JsonObject, type JsonValue } from "./json-value.ts";

export const jsonObject = z.custom<JsonObject>(isRecord, "expected an object");

export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, "expected a JSON value");

const listOf = <T>(isItem: (item: unknown) => boolean, message: string) =>
  z.custom<readonly T[]>((value) => Array.isArray(value) && value.every(isItem), message);

export const jsonObjects = listOf<JsonObject>(isRecord, "expected a list of objects");

export const texts = listOf<string>((item) => typeof item === "string", "expected a list of texts");
