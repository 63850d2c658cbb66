// The same link as `extendChain` makes, inside a statement: the row that is written holds what it is made of.

/** Null where one of the two is. */
export const linkOf = (previous: string, linked: string): string =>
  `encode(sha256(convert_to(${previous} || E'\\n' || ${linked}, 'UTF8')), 'hex')`;
