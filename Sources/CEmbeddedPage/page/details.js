// One event: what, when, where, who attends; its owner can change and cancel it.
import * as api from "./api.js";
import { announce, byID, confirmed, element, once, share } from "./dom.js";
import { calendar } from "./list.js";
import { currentUser, onUserChange, signedIn } from "./session.js";
import { has, text } from "./texts.js";
import { bothTimes, distance, longSpan, zone } from "./time.js";

/** What changes about the event that is shown while it is shown: { owner(), clock(), guests() }. */
let shown = null;
onUserChange(() => {
  shown?.owner();
  shown?.guests();
});

/** The clock went on. */
export const updateClock = () => shown?.clock();

/** Looks how many attend now. */
export const updateGuests = () => shown?.guests();

/** @param handlers { close(), edit(event, tag), cancelled(id), attended() } */
export function showDetails(event, tag, handlers) {
  const problem = element("p", { class: "problem", role: "alert" });
  const run = (work) => ({ currentTarget }) => once(currentTarget, problem, work);
  const badge = element("span", { class: "badge" }, text("list.badge.own"));
  const time = element("span", { class: "distance" });
  const guests = element("span", { id: "attendance" }, "…");
  const attend = element("button", { type: "button", hidden: true });
  const change = element("button", { type: "button", onclick: () => handlers.edit(event, tag) }, text("details.change"));
  const end = element("button", { type: "button", class: "danger", onclick: run(() => cancel(event, handlers)) }, text("details.cancel"));
  const view = byID("details-view");
  view.dataset.event = event.id;
  view.replaceChildren(
    element("button", { type: "button", class: "back", onclick: handlers.close }, text("list.all")),
    element(
      "div", { class: "heading" }, calendar(event),
      element("div", {}, element("h2", { tabindex: "-1", dir: "auto" }, event.name), element("p", {}, time, badge))),
    element("dl", {}, ...whenAndWhere(event), ...texts(event), ...row(text("details.guests"), guests)), ways(event),
    element("div", { class: "buttons" }, attend, change, end), problem);
  shown = {
    owner: () => {
      // The session may come after the event.
      for (const part of [badge, change, end]) part.hidden = event.owner.id !== currentUser();
    },
    clock: () => { time.textContent = distance(event); },
    guests: attendance(event.id, guests, attend, run, handlers),
  };
  for (const update of Object.values(shown)) update();
}

/** Shows a text in place of an event. @param event its time and place are shown below  @param handlers { close(), signUp() or none } */
export function showNotice(title, note, event, { close, signUp }) {
  shown = null;
  byID("details-view").replaceChildren(
    element("button", { type: "button", class: "back", onclick: close }, text("list.all")),
    element("h2", { tabindex: "-1", dir: "auto" }, title), element("p", { class: "notice" }, note),
    ...(signUp ? [element("button", { type: "button", class: "primary", onclick: signUp }, text("page.signup"))] : []),
    ...(event === null ? [] : [element("dl", {}, ...whenAndWhere(event)), ways(event, { isOver: true })]));
}

/** What leads to the event from elsewhere: its address, its page and a calendar. Where members alone may read, nobody can open them. */
function ways({ id, name }, { isOver = false } = {}) {
  const path = `/events/${id}`;
  // A language that the address names goes along.
  const page = element("a", { href: path + location.search }, text("event.page"));
  const address = element("code", { class: "secret", dir: "ltr", hidden: true }, `${location.origin}${path}`);
  const made = element("div", { class: "ways", hidden: true }, element("div", { class: "buttons" }, ...(isOver ? [page] : [
    element("button", { type: "button", onclick: () => share(name, address) }, text("event.share")),
    element("a", { href: `/v1${path}.ics`, download: true }, text("event.calendar")), page,
  ])), address);
  api.isPublic.then((isPublic) => { made.hidden = !isPublic; });
  return made;
}

const whenAndWhere = (event, both = bothTimes(event)) => [
  ...row(
    text("details.when"), element("time", { datetime: event.started_at }, longSpan(event)),
    both && element("span", { class: "hint" }, text("event.both", both)),
    element("small", {}, text("details.zone", { zone: zone() }))),
  ...row(
    text("details.where"), event.address && element("span", { dir: "auto" }, event.address),
    element("small", {}, element("span", { dir: "ltr" }, `${event.lat.toFixed(5)}, ${event.lon.toFixed(5)}`))),
];

/** The server may know a kind that this page does not. */
const kindOf = ({ category }) => (has(`kind.${category}`) ? text(`kind.${category}`) : category);

/** What the owner wrote about the event. Only http and https links lead anywhere, whatever the server says. */
const texts = (event) => [
  ...(event.category ? row(text("form.category.label"), kindOf(event)) : []),
  ...(event.description ? row(text("details.about"), element("span", { class: "description", dir: "auto" }, event.description)) : []),
  ...(/^https?:\/\//i.test(event.link ?? "")
    ? row(text("form.link.label"), element("a", {
      href: event.link, dir: "ltr", target: "_blank", rel: "nofollow ugc noopener noreferrer",
    }, event.link)) : []),
  ...(event.time_zone ? row(text("form.time_zone.label"), element("span", { dir: "ltr", translate: "no" }, event.time_zone)) : []),
];

const row = (name, ...values) => [element("dt", {}, name), element("dd", {}, ...values.filter(Boolean))];

async function cancel(event, handlers) {
  const { name } = event;
  const isSure = await confirmed(text("details.cancel.question", { name }), { yes: text("details.cancel") });
  if (!isSure) return;
  // The stream of changes may tell before the answer does.
  const view = byID("details-view");
  view.dataset.ending = event.id;
  try {
    await signedIn(() => api.cancel(event.id));
  } finally {
    delete view.dataset.ending;
  }
  announce(text("details.cancel.done", { name }));
  handlers.cancelled(event.id);
}

/** Returns a function that shows how many attend now, and a button to attend or to leave. */
function attendance(id, guests, button, run, { attended }) {
  /** Counts the writes: a number that was read before one of them does not count. */
  let writes = 0;
  let isAttending = false;
  const show = ({ count, attending }) => {
    const isNobody = count === 0 && !attending;
    const key = isNobody ? "details.guests.none" : attending ? "details.guests.you" : "details.guests.others";
    guests.textContent = text(key, { count });
    isAttending = attending;
    button.textContent = text(attending ? "details.leave" : "details.attend");
    button.className = attending ? "" : "primary";
    button.hidden = false;
  };
  button.onclick = run(async () => {
    const leaves = isAttending;
    writes += 1;
    try {
      await signedIn(() => (leaves ? api.leave(id) : api.attend(id)));
    } finally {
      writes += 1;
    }
    show(await api.attendance(id));
    announce(text(leaves ? "details.leave.done" : "details.attend.done"));
    attended();
  });
  return async () => {
    const before = writes;
    try {
      const now = await api.attendance(id);
      if (before === writes) show(now);
    } catch (error) {
      if (!(error instanceof api.APIError)) throw error;
      if (button.hidden) guests.textContent = text("details.guests.unknown");
    }
  };
}
