// Foreign text on the page: as text, never as markup, and without links.

import type { ReactNode } from "react";
import { cutText, planRuns } from "./visible-text.ts";

interface TextProps {
  readonly children: string;
  /** Only the beginning is shown. */
  readonly most?: number;
}

export const Text = ({ children, most }: TextProps): ReactNode => {
  const shown = most === undefined ? children : cutText(children, most);
  const runs = planRuns(shown);
  const isCut = shown.length < children.length;
  return (
    <bdi>
      {runs.map((run, at) =>
        run.isMark ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: runs have no other identity, and never move
          <span key={at} className="mark" title="A character that cannot be seen">
            {run.text}
          </span>
        ) : (
          run.text
        ),
      )}
      {isCut && "…"}
    </bdi>
  );
};
