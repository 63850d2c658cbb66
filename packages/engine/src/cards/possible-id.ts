// An id from outside that no row can have: the database refuses NUL, and a lone surrogate would arrive as another
// character. To its asker such a thing does not exist, which is the same answer as for any other wrong id.

import { isStorable } from "@toolplane/protocol";

export const isPossibleId = (id: string): boolean => id !== "" && isStorable(id);
