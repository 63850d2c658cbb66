// When two names are the same name to a person, a model or a case-insensitive upstream.
// Reserved names, fixed parameters and profile names are all compared by this key (W-30, SEC-8).

/** The longest name that is compared: of a managed parameter, a tool, a profile. */
export const MAX_NAME_LENGTH = 128;

/**
 * Composition makes at most four units one, so a longer text cannot become a name that is compared. It is left alone,
 * because sorting a long run of combining marks takes quadratic time (measured: 80,000 of them 9 seconds).
 */
const MAX_FOLDED_LENGTH = 4 * MAX_NAME_LENGTH;

/** A capital I with a dot is lowered to an i and a dot of its own; Java and others compare it equal to a plain i. */
const LOWERED_DOTTED_I = "i\u0307";

/**
 * Upper before lower: the dotless i and the sharp s only meet their plain spellings on the way up.
 * NFKC brings full-width and ligature forms to the plain letter.
 */
export const foldName = (name: string): string => {
  const text = name.trim();
  const composed = text.length > MAX_FOLDED_LENGTH ? text : text.normalize("NFKC").trim();
  return composed.toUpperCase().toLowerCase().replaceAll(LOWERED_DOTTED_I, "i");
};
