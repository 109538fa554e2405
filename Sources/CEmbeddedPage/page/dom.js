// Builds parts of the page. Text is always text: no string becomes HTML.
import { APIError } from "./api.js";
import { text } from "./texts.js";

/** The element of the page with this id. */
export const byID = (id) => document.getElementById(id);

/**
 * A new element: element("a", { href: "/docs", class: "link" }, "API").
 * A property "onclick" takes a function; true and false set and leave out an attribute.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.replace(/^on/, ""), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null && child !== false));
  return made;
}

/** Does what a button is for, one at a time, and says in a line what went wrong. */
export async function once(button, problem, work) {
  // A disabled button would lose the focus.
  if (button.ariaDisabled === "true") return;
  button.ariaDisabled = "true";
  problem.textContent = "";
  try {
    await work();
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    problem.textContent = error.message;
  } finally {
    button.ariaDisabled = null;
  }
}

/** Whether a key belongs to the composition of a text, such as a Japanese one. Safari marks the key that ends it by its code alone. */
export const isComposed = ({ isComposing, keyCode }) => isComposing || keyCode === 229;

const announcementMilliseconds = 6000;
let clearing = null;

/** Says something for a moment, to screen readers too. */
export function announce(sentence) {
  byID("announcement").textContent = sentence;
  clearTimeout(clearing);
  clearing = setTimeout(() => byID("announcement").replaceChildren(), announcementMilliseconds);
}

/** Copies the text of an element. Without a clipboard, as on plain HTTP, it shows and selects the text, and resolves to false. */
export async function copy(shown) {
  try {
    await navigator.clipboard.writeText(shown.textContent);
    return true;
  } catch {
    shown.hidden = false;
    getSelection().selectAllChildren(shown);
    return false;
  }
}

/** Gives an address to another app of the visitor, or copies it. @param shown an element with the address */
export async function share(title, shown) {
  try {
    if (navigator.share) return await navigator.share({ title, url: shown.textContent });
  } catch (error) {
    // The visitor chose no app.
    if (error.name === "AbortError") return;
  }
  announce(text((await copy(shown)) ? "event.copied" : "event.selected"));
}

/** Answers the question that is open. */
let answer = null;

/** Asks a question that needs a yes. Resolves to true or false; to false when the next question comes, so that one yes answers one question. */
export function confirmed(question, { yes, no = text("question.keep") }) {
  answer?.(false);
  const { promise, resolve } = Promise.withResolvers();
  answer = resolve;
  const dialog = byID("question");
  const [noButton, yesButton] = dialog.querySelectorAll("button");
  byID("question-text").textContent = question;
  yesButton.textContent = yes;
  noButton.textContent = no;
  noButton.onclick = () => dialog.close();
  yesButton.onclick = () => {
    resolve(true);
    dialog.close();
  };
  // This comes late: another question may be open.
  dialog.onclose = () => { if (!dialog.open) resolve(false); };
  dialog.close();
  dialog.showModal();
  return promise;
}

/** Says what the connection is. Returns what it was before. @param failure what is said of one that failed */
export function showStatus(name, failure) {
  const status = byID("status");
  const before = status.dataset.state;
  if (before === name && name !== "failed") return before;
  status.dataset.state = name;
  status.textContent = name === "failed" ? failure : text(`status.${name}`);
  return before;
}
