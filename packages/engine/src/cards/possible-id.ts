// An id from outside that no row can have: the database refuses NUL, and a lone surrogate would arrive as another character. For
// the caller such a thing does not exist, like any other wrong id.

import { isStorable } from "@toolplane/protocol";

export const isPossibleId = (id: string): boolean => id !== "" && isStorable(id);
