// Reading uploaded YAML in a thread.

import { parseYamlFile } from "./yaml-file.ts";

export const run = (text: string): unknown => parseYamlFile(text, "upload").value;
