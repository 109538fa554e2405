// The way back: a link or a code makes another browser this browser's user, or this browser another one's.
import { APIError, request } from "./api.js";
import { byID, confirmed, element, once } from "./dom.js";
import { comeBack, currentUser, onUserChange, restore } from "./session.js";
import { locale } from "./time.js";

const dialog = byID("way");
const problem = element("p", { class: "problem", role: "alert" });
/** The user whose way back is shown; null for none. */
let owner = null;

/** The secret of the link that opened this page, "" without one; null at the page's usual address. */
const opened = location.pathname === "/back" ? location.hash.match(/^#([0-9a-z]{26})(?![0-9a-z])/i)?.[1] ?? "" : null;
// So neither the browser's way back nor a copied address leads to it. The list of visited pages keeps it all the same.
if (opened !== null) history.replaceState(null, "", "/");

/** Asks for a code, or what to do with the link that opened the page. */
export const goOnBack = () => { if (opened !== null) showReturn(opened); };

function show(title, ...parts) {
  problem.textContent = "";
  const close = element("button", { type: "button", onclick: () => dialog.close() }, "Close");
  dialog.replaceChildren(element("h2", { id: "way-title", tabindex: "-1" }, title), ...parts, element("div", { class: "buttons" }, close));
  if (!dialog.open) dialog.showModal();
  byID("way-title").focus();
}

// A secret stays in the page no longer than in view.
dialog.addEventListener("close", () => {
  if (dialog.open) return;
  dialog.replaceChildren();
  // What opened it may not be there any more.
  if (document.activeElement === document.body) byID("panel").focus();
});
onUserChange((id) => { if (owner !== null && owner !== id) dialog.close(); });

/** The visitor may be coming back elsewhere while the code is in view. */
export const lookAtWay = () => { if (owner !== null && dialog.open) restore(); };

/** Sends a request about the passes of this browser's user. A dead cookie makes no new user here, who would get the pass. */
const send = (method, path, options) => request(method, path, options).catch((error) => {
  if (error.status === 401) restore();
  throw error;
});

const kinds = [
  {
    kind: "recovery", noun: "link", title: "A link, for when this browser is gone",
    text: "Keep it like a key, for example in a password manager, and show it to nobody. It works until you make another one or end it. "
      + "A browser in which you open it may remember it: on a computer that others use, make a new one.",
    read: (pass) => `${location.origin}/back#${pass}`,
  },
  {
    kind: "transfer", noun: "code", title: "A code, for another browser now",
    text: `Open ${location.origin}/back there, and type the code within ten minutes. It works once.`,
    read: (pass) => pass.replace(/.{5}$/, " $&"),
  },
];

/** Shows the ways back of this browser's user. What a finder could do stands before the buttons that make them. */
export async function showWayBack(title = "Your way back") {
  owner = currentUser();
  const parts = kinds.map(part);
  show(
    title,
    element("p", {}, `User ${owner} is in one browser at a time. A link or a code brings it to another one, and signs this one out.`),
    element(
      "p", { class: "notice" }, element("strong", {}, "Anybody who finds the link or the code is you: "),
      "they can change and cancel your events, see which you attend, erase everything about you, and shut you out."),
    ...parts.flatMap(({ elements }) => elements), problem);
  const passes = await send("GET", "/v1/users/me/passes").catch((error) => error);
  if (passes instanceof APIError) problem.textContent = passes.message;
  else for (const { kind, issued_at: time } of passes.data) parts.find((part) => part.kind === kind).tell(time);
}

/** The part of the dialog that makes and ends passes of one kind. */
function part({ kind, noun, title, text, read }) {
  const said = element("p", { role: "status" });
  const secret = element("code", { class: "secret" });
  const button = (text, work, attributes = {}) => {
    const made = element("button", { type: "button", ...attributes, onclick: () => once(made, problem, work) }, text);
    return made;
  };
  const say = (text, isThere, shown = "") => {
    said.textContent = text;
    secret.textContent = shown;
    for (const part of [secret, copy]) part.hidden = shown === "";
    make.textContent = `Make a ${isThere ? "new " : ""}${noun}`;
    end.hidden = !isThere;
  };
  const make = button("", async () => {
    const { data } = await send("POST", "/v1/users/me/passes", { body: { kind } });
    say(`Here is your ${noun}. Nothing shows it again.`, true, read(data.pass));
  });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(secret.textContent);
      said.textContent = `The ${noun} is copied.`;
    } catch {
      // No clipboard on plain HTTP.
      getSelection().selectAllChildren(secret);
      said.textContent = `The ${noun} is selected: copy it with the keyboard or the menu of your browser.`;
    }
  });
  const end = button(`End the ${noun}`, async () => {
    await send("DELETE", `/v1/users/me/passes/${kind}`);
    make.focus();
    say(`No ${noun} works now.`, false);
  }, { class: "danger" });
  const tell = (time) => {
    if (secret.textContent !== "") return;
    const when = new Date(time).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
    say(`The ${noun} of ${when} works, for whoever has it. A new one ends it.`, true);
  };
  say("", false);
  const row = element("div", { class: "buttons" }, make, copy, end);
  const elements = [element("h3", {}, title), element("p", {}, text), said, secret, row];
  return { kind, tell, elements };
}

const refusals = {
  404: "No user has this link or code. It may have been used, replaced or ended, and a code works for ten minutes.",
  422: "This did not work. Try it once more.",
};

/** Makes this browser the user of a link or of a code. @param pass the secret of a link; "" for a field to type in */
export function showReturn(pass = "") {
  owner = null;
  const input = element("input", { id: "pass", autocomplete: "off", autocapitalize: "characters", spellcheck: "false" });
  const go = element("button", { type: "submit", class: "primary" }, "Continue");
  const agrees = (id, left) => dialog.open && confirmed(
    `You come back as user ${id}${left === null ? "" : `; this browser leaves user ${left}, and only a link of that user brings it back`}.`
      + " The browser in which you were the user is signed out.",
    { yes: `Come back as user ${id}`, no: left === null ? "No" : `Stay user ${left}` });
  const work = async () => {
    const typed = pass || input.value.trim().replace(/^.*#/, "");
    if (typed === "") throw new APIError(422, { detail: "Type the code, or paste the link." });
    const isBack = await comeBack(typed, agrees).catch((error) => {
      throw error.status in refusals ? new APIError(error.status, { detail: refusals[error.status] }) : error;
    });
    if (isBack) await showWayBack(`You are user ${currentUser()}`);
  };
  const submit = (submission) => {
    submission.preventDefault();
    once(go, problem, work);
  };
  show(
    "Come back",
    element("p", {}, pass ? "The link that you opened makes this browser the user who kept it."
      : "“Keep a way back” makes a code in the browser where you are the user. A link that you kept works, too."),
    element("p", { class: "notice" }, "Did somebody else send it to you? Then close this: what you add would be theirs, too."),
    element(
      "form", { novalidate: true, onsubmit: submit },
      pass === "" && element("p", { class: "field" }, element("label", { for: "pass" }, "Code or link"), input),
      problem, element("div", { class: "buttons" }, go)));
}
