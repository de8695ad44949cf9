// Light or dark: as the system says, unless the user chose.

import { signal } from "@preact/signals";

const KEY = "maestro-theme";
const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export const theme = signal<Theme>(themes.find((one) => one === stored()) ?? "system");

/** A report that is opened from a file may have no storage. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
  applyTheme();
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Without storage the choice lasts as long as the page.
    return;
  }
}
