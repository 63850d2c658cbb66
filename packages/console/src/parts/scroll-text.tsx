// Text that is longer than its box: the box scrolls, also with the keyboard.

import type { ReactNode } from "react";

interface ScrollTextProps {
  readonly className?: string;
  readonly children: ReactNode;
}

export const ScrollText = ({ className, children }: ScrollTextProps): ReactNode => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the box is scrolled with the keyboard
  <pre className={className} tabIndex={0}>
    {children}
  </pre>
);
