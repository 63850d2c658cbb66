// Times and spans as people read them; the exact time is in the title.

import type { ReactNode } from "react";
import { clockText } from "./span-text.ts";

export const When = ({ at }: { readonly at: string | null | undefined }): ReactNode => {
  if (at === null || at === undefined || at === "") return null;
  return (
    <time dateTime={at} title={at}>
      {clockText(at, new Date())}
    </time>
  );
};
