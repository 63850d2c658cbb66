// The end of a list that comes in pages.

import type { ReactNode } from "react";
import { Button } from "./button.tsx";

export const MoreButton = ({ more }: { readonly more: (() => void) | undefined }): ReactNode =>
  more === undefined ? null : (
    <p className="more">
      <Button onClick={more}>Show older ones</Button>
    </p>
  );
