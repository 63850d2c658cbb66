// Buttons: `main` for the one act of a form, `plain` for the others, `risky` for what cannot be undone, `quiet` inside lists.

import type { ButtonHTMLAttributes, ReactNode } from "react";

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type"> {
  readonly kind?: "main" | "plain" | "risky" | "quiet";
  readonly type?: "button" | "submit";
  readonly busy?: boolean;
}

export const Button = ({
  kind = "plain",
  type,
  busy = false,
  disabled,
  className,
  ...rest
}: ButtonProps): ReactNode => (
  <button
    {...rest}
    type={type === "submit" ? "submit" : "button"}
    className={`button ${kind} ${className ?? ""}`}
    disabled={disabled === true || busy}
    aria-busy={busy}
  />
);
