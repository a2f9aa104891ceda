// @ts-check
/** Questions to the person at the page. */
import { $, say } from "./dom.js";

/** @param {HTMLDialogElement} dialog @returns {Promise<string>} value of the button that closed it */
function answer(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

/**
 * Asks before something is done. Escape and Cancel mean no.
 * @param {{title: string, text: string, yes: string}} question
 */
export async function confirm({ title, text, yes }) {
  say($("confirm-title"), title);
  say($("confirm-text"), text);
  say($("confirm-yes"), yes);
  return (await answer(/** @type {HTMLDialogElement} */ ($("confirm")))) === "yes";
}

/**
 * @param {string} problem what is wrong with the token there was; "" when there was none
 * @returns {Promise<string | undefined>} the token, or undefined when none was given
 */
export async function askToken(problem) {
  const dialog = /** @type {HTMLDialogElement} */ ($("ask-token"));
  const input = /** @type {HTMLInputElement} */ ($("token"));
  if (dialog.open) return undefined;
  input.value = "";
  say($("token-problem"), problem);
  $("token-problem").hidden = problem === "";
  const closed = await answer(dialog);
  return closed === "yes" && input.value.trim() !== "" ? input.value.trim() : undefined;
}
