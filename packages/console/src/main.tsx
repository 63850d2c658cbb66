// The page begins here.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./shell/app.tsx";
import { ThemeProvider } from "./shell/theme.tsx";

const place = document.getElementById("console");
if (place !== null) {
  createRoot(place).render(
    <StrictMode>
      <ThemeProvider>
        <App />
      </ThemeProvider>
    </StrictMode>,
  );
}
