// The way back: a link or a code makes another browser this browser's user, or this browser another one's.
import { APIError, request } from "./api.js";
import { byID, confirmed, copy, element, once } from "./dom.js";
import { opened } from "./place.js";
import { comeBack, currentUser, onUserChange, restore } from "./session.js";
import { locale, text } from "./texts.js";

const dialog = byID("way");
const problem = element("p", { class: "problem", role: "alert" });
/** The user whose way back is shown; null for none. */
let owner = null;

/** Asks for a code, or what to do with the link that opened the page. */
export const goOnBack = () => { if (opened !== null) showReturn(opened); };

function show(title, ...parts) {
  problem.textContent = "";
  const close = element("button", { type: "button", onclick: () => dialog.close() }, text("way.close"));
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

/** The kinds of passes to come back with, with their names in the keys of texts. */
const ways = [
  { kind: "recovery", name: "link", read: (pass) => `${location.origin}/back#${pass}` },
  { kind: "transfer", name: "code", read: (pass) => pass.replace(/.{5}$/, " $&") },
];
const calendar = { kind: "calendar", name: "calendar", read: (pass) => `${location.origin}/v1/calendars/${pass}.ics` };

/** Shows the ways back of this browser's user. */
export const showWayBack = (title = text("way.title")) => showPasses(
  title, ways,
  element("p", {}, text("way.move", { id: currentUser() })),
  element("p", { class: "notice" }, element("strong", {}, text("way.warning")), " ", text("way.warning.more")));

/** Shows the calendar of this browser's user, apart from the ways back: its address goes to another program, and theirs to nobody. */
export const showCalendar = () => showPasses(text("who.calendar"), [calendar], element("p", { class: "notice" }, text("way.calendar.warning")));

/** @param warnings what a finder could do, before the buttons that make the passes */
async function showPasses(title, kinds, ...warnings) {
  owner = currentUser();
  const parts = kinds.map(part);
  show(title, ...warnings, ...parts.flatMap(({ elements }) => elements), problem);
  const passes = await send("GET", "/v1/users/me/passes").catch((error) => error);
  if (passes instanceof APIError) problem.textContent = passes.message;
  else for (const { kind, issued_at: time } of passes.data) parts.find((part) => part.kind === kind)?.tell(time);
}

/** The part of the dialog that makes and ends passes of one kind. */
function part({ kind, name, read }) {
  const said = element("p", { role: "status" });
  const secret = element("code", { class: "secret", dir: "ltr" });
  const button = (label, work, attributes = {}) => {
    const made = element("button", { type: "button", ...attributes, onclick: () => once(made, problem, work) }, label);
    return made;
  };
  const say = (sentence, isThere, shown = "") => {
    said.textContent = sentence;
    secret.textContent = shown;
    for (const part of [secret, copying]) part.hidden = shown === "";
    make.textContent = isThere ? text(`way.${name}.again`) : text(`way.${name}.make`);
    end.hidden = !isThere;
  };
  const make = button("", async () => {
    const { data } = await send("POST", "/v1/users/me/passes", { body: { kind } });
    say(text(`way.${name}.made`), true, read(data.pass));
  });
  const copying = button(text("way.copy"), async () => {
    const isCopied = await copy(secret);
    said.textContent = text(isCopied ? `way.${name}.copied` : `way.${name}.selected`);
  });
  const end = button(text(`way.${name}.end`), async () => {
    await send("DELETE", `/v1/users/me/passes/${kind}`);
    make.focus();
    say(text(`way.${name}.ended`), false);
  }, { class: "danger" });
  const tell = (time) => {
    if (secret.textContent !== "") return;
    const issued = new Date(time).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
    say(text(`way.${name}.works`, { time: issued }), true);
  };
  say("", false);
  const row = element("div", { class: "buttons" }, make, copying, end);
  const advice = text(`way.${name}.text`, { address: `${location.origin}/back` });
  const elements = [element("h3", {}, text(`way.${name}.title`)), element("p", {}, advice), said, secret, row];
  return { kind, tell, elements };
}

const refusals = { 404: text("return.unknown"), 422: text("return.failed") };

/** Makes this browser the user of a link or of a code. @param pass the secret of a link; "" for a field to type in */
export function showReturn(pass = "") {
  owner = null;
  const input = element("input", { id: "pass", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", dir: "ltr" });
  const go = element("button", { type: "submit", class: "primary" }, text("return.go"));
  const agrees = (id, left) => dialog.open && confirmed(
    text(left === null ? "return.question" : "return.question.leaves", { id, left }),
    { yes: text("return.yes", { id }), no: text(left === null ? "return.no" : "return.no.leaves", { left }) });
  const work = async () => {
    const typed = pass || input.value.trim().replace(/^.*#/, "");
    if (typed === "") throw new APIError(422, { detail: text("return.missing") });
    const isBack = await comeBack(typed, agrees).catch((error) => {
      throw error.status in refusals ? new APIError(error.status, { detail: refusals[error.status] }) : error;
    });
    if (isBack) await showWayBack(text("way.title.user", { id: currentUser() }));
  };
  const submit = (submission) => {
    submission.preventDefault();
    once(go, problem, work);
  };
  show(
    text("return.title"),
    element("p", {}, text(pass ? "return.opened" : "return.typed")),
    element("p", { class: "notice" }, text("return.warning")),
    element(
      "form", { novalidate: true, onsubmit: submit },
      pass === "" && element("p", { class: "field" }, element("label", { for: "pass" }, text("return.label")), input),
      problem, element("div", { class: "buttons" }, go)));
}
