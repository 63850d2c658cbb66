// Pages that end where their documents have enough bytes (page.ts). The size of a text is known without reading it, so rows that
// are left out cost nothing but their place in the index.

import { MAX_PAGE_BYTES } from "./page.ts";

/** Of a list with the columns `place` (its order, from 1) and `weight` (bytes): up to the first row that is too much, and two at least. */
export const withinPage = (list: string): string => `
select * from (
  select q.*, (sum(q.weight) over (order by q.place))::float8 as taken from (${list}) q) w
 where w.taken - w.weight <= ${MAX_PAGE_BYTES} or w.place <= 2
 order by w.place`;
