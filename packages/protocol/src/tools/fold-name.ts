// When two names are the same name to a person, a model or a case-insensitive upstream.
// Reserved names, fixed parameters and profile names are all compared by this key (W-30, SEC-8).

/**
 * Upper before lower: the dotless i and the sharp s only meet their plain spellings on the way up.
 * NFKC brings full-width and ligature forms to the plain letter.
 */
export const foldName = (name: string): string => name.normalize("NFKC").trim().toUpperCase().toLowerCase();
