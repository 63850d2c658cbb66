// The sign of the product.

import type { ReactNode } from "react";

export const Mark = (): ReactNode => (
  <svg className="sign" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <path d="M5 22 27 8l-7 17-5-6z" className="sign-wing" />
    <path d="m15 19 5 6-4 2z" className="sign-tail" />
  </svg>
);
