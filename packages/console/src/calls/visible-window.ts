// Which rows of a long list are drawn: those on the screen and some around them. Pure.

export const ROW_PX = 40;
/** Rows drawn beyond the edges, so that scrolling shows no holes. */
const AROUND = 10;

export interface RowWindow {
  readonly first: number;
  /** Behind the last row that is drawn. */
  readonly end: number;
  readonly before: number;
  readonly height: number;
}

export const planWindow = (count: number, scrolled: number, seen: number): RowWindow => {
  const first = Math.min(Math.max(0, Math.floor(scrolled / ROW_PX) - AROUND), Math.max(0, count - 1));
  const end = Math.min(count, Math.ceil((scrolled + seen) / ROW_PX) + AROUND);
  return { first, end: Math.max(end, first), before: first * ROW_PX, height: count * ROW_PX };
};
