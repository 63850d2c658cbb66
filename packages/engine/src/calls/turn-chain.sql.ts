// Makes the same link as `extendChain`, inside a statement, from columns of the row that the statement writes.

/** Null where one of the two is. */
export const linkOf = (previous: string, linked: string): string =>
  `encode(sha256(convert_to(${previous} || E'\\n' || ${linked}, 'UTF8')), 'hex')`;
