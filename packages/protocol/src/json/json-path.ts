// How a place inside a JSON document is named in errors: `$.items[3]["odd key"]`.

export type JsonPathSegment = string | number;

/** A path is for people; a longer one is cut. */
const MAX_PATH_LENGTH = 200;

const isName = (key: string): boolean => {
  if (key === "") return false;
  for (let i = 0; i < key.length; i++) {
    const c = key.charCodeAt(i);
    const letter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95;
    if (!letter && !(i > 0 && c >= 48 && c <= 57)) return false;
  }
  return true;
};

const writeSegment = (segment: JsonPathSegment): string => {
  if (typeof segment === "number") return `[${segment}]`;
  return isName(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
};

/** The beginning of a text that is shown or stored; cutting must not make a lone surrogate. */
export const shortText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}...`;

export const formatJsonPath = (segments: readonly PropertyKey[]): string => {
  let path = "$";
  for (const segment of segments) {
    path += writeSegment(typeof segment === "symbol" ? String(segment) : segment);
    if (path.length > MAX_PATH_LENGTH) return shortText(path, MAX_PATH_LENGTH);
  }
  return path;
};
