// Which paths lead where they seem to lead. A part `.` or `..` takes a request to another resource, and servers do not agree on what
// such a part is: some decode `%2F` and `%5C` before they walk the path, some cut `;...` off.

/** Characters that an address parser drops, turns into "/" or reads as the end of the path. */
const NOT_OF_A_PATH = /[\s\p{Cc}\\?#]/u;

export const hasForeignCharacter = (path: string): boolean => NOT_OF_A_PATH.test(path);

/** A part `.` or `..`, also written "%2e", which an address parser reads as a dot, and also with a parameter behind it. */
const UPWARDS = /^(?:\.|%2e){1,2}(?:;.*)?$/iu;

export const leadsUpwards = (path: string): boolean =>
  path
    .replaceAll(/%3b/giu, ";")
    .split(/\/|%2f|%5c/iu)
    .some((part) => UPWARDS.test(part));
