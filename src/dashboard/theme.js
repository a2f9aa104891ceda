// @ts-check
/** Light, dark, or as the system has it: remembered in the browser. A classic script, since
 * modules run after the first paint, which would flash in the wrong colours. */

/** @typedef {"system" | "light" | "dark"} Theme */

/** @type {readonly Theme[]} */
const THEMES = ["system", "light", "dark"];
const KEY = "theme";
const LABELS = { system: "as the system has them", light: "light", dark: "dark" };
const SIGNS = { system: "◐", light: "○", dark: "●" };

/** @returns {Theme} */
function stored() {
  try {
    const value = localStorage.getItem(KEY);
    return THEMES.find((t) => t === value) ?? "system";
  } catch {
    return "system";
  }
}

/** @param {Theme} theme */
function apply(theme) {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset["theme"];
  else dataset["theme"] = theme;
  const button = document.getElementById("theme");
  if (button === null) return;
  button.textContent = SIGNS[theme];
  button.setAttribute("aria-label", `Colours: ${LABELS[theme]}`);
  button.title = `Colours: ${LABELS[theme]}`;
}

{
  let theme = stored();
  apply(theme);
  document.addEventListener("DOMContentLoaded", () => {
    apply(theme);
    document.getElementById("theme")?.addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
      apply(theme);
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        // A browser that keeps nothing forgets it with the page.
      }
    });
  });
}
