// A table that is wider than a phone: it scrolls in its own box, also with the keyboard.

import type { ReactNode } from "react";

interface WideTableProps {
  readonly label: string;
  readonly children: ReactNode;
}

export const WideTable = ({ label, children }: WideTableProps): ReactNode => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the box is scrolled with the keyboard
  <section className="scroll-x" aria-label={label} tabIndex={0}>
    <table>{children}</table>
  </section>
);
