// A box: an ordered list of card ids, in which one may appear twice.

import { z } from "zod";
import { parseWith } from "../errors/parse-with.ts";
import { ids } from "../json/json-schemas.ts";

export const boxSchema = z
  .strictObject({
    box_id: z.string().min(1),
    card_ids: ids,
    parent_ids: ids.optional(),
  })
  .readonly();

export type Box = z.infer<typeof boxSchema>;

export const parseBox = (input: unknown): Box => parseWith(boxSchema, input, "box");
