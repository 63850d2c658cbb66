// The query of every list: how many, and after which.

import { z } from "zod";

export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).optional(),
  cursor: z.string().max(1_024).optional(),
});
