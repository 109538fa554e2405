// The list beside the map: the same events for the keyboard and for screen readers.
import { byID, element } from "./dom.js";
import { shortSpan } from "./time.js";

const number = new Intl.NumberFormat();
/** More rows than this only make the page slow. */
const rowLimit = 100;
const plural = (count) => `${number.format(count)} ${count === 1 ? "event" : "events"}`;

/** @param content what View found  @param handlers { open(id), zoom(cluster), isMine(event), cityOf(cluster) } */
export function showList(content, handlers) {
  const list = byID("list");
  const focused = document.activeElement?.closest?.("#list li")?.dataset.key;
  if (content.kind === "clusters") {
    title(`${plural(content.total)} in view`, "Too many to list. Open a group, or zoom in.");
    const clusters = content.clusters.toSorted((one, other) => other.count - one.count);
    list.replaceChildren(...clusters.map((cluster) => clusterItem(cluster, handlers)));
  } else {
    const events = content.events.toSorted((one, other) => one.started_at.localeCompare(other.started_at) || one.id - other.id);
    title(...titleOf(content));
    list.replaceChildren(...events.slice(0, rowLimit).map((event) => eventItem(event, handlers)));
  }
  // A live change must not take the focus away.
  if (focused) list.querySelector(`[data-key="${CSS.escape(focused)}"] button`)?.focus({ preventScroll: true });
}

function titleOf({ kind, events }) {
  if (kind === "mine") return [`Mine: ${plural(events.length)}`, events.length === 0 ? "You have not added an event yet." : ""];
  const rest = events.length > rowLimit ? `These are the first ${rowLimit}. Zoom in for the others.` : "";
  return [`${plural(events.length)} in view`, events.length === 0 ? "Nothing here. Move the map, or add an event." : rest];
}

function title(text, note) {
  byID("list-title").textContent = text;
  byID("list-note").replaceChildren(note);
}

function eventItem(event, { open, isMine }) {
  const button = element(
    "button", { type: "button", onclick: () => open(event.id) },
    element("strong", {}, event.name),
    isMine(event) && element("span", { class: "badge" }, "yours"),
    element("time", { datetime: event.started_at }, shortSpan(event.started_at, event.ended_at)),
    event.address && element("span", { class: "address" }, event.address));
  return element("li", { "data-key": `event-${event.id}` }, button);
}

function clusterItem(cluster, { zoom, cityOf }) {
  const city = cityOf(cluster);
  const button = element(
    "button", { type: "button", onclick: () => zoom(cluster) },
    element("strong", {}, plural(cluster.count)), city && element("span", { class: "address" }, `around ${city}`));
  return element("li", { "data-key": `cluster-${cluster.lat}-${cluster.lon}` }, button);
}

/** Says how to fill an empty server. */
export function showEmptyServer() {
  byID("list-note").replaceChildren(
    element("span", {}, "There are no events on this server yet. Add the first one, or fill the map with a thousand made-up ones:"),
    element("code", { class: "command" }, "humon demo"),
    element("span", {}, "Run it in another terminal, while the server runs. After "), element("code", {}, "make run"),
    element("span", {}, " the program is "), element("code", {}, ".build/release/humon"),
    element("span", {}, ". The events appear here by themselves."));
}

/** Offers to sign up: this server shows events to known devices only. */
export function showSignUp(signUp) {
  title("Events for members", "");
  byID("list").replaceChildren();
  byID("list-note").replaceChildren(
    element("span", {}, "This server shows its events to visitors who signed up. "),
    element("button", { type: "button", class: "primary", onclick: signUp }, "Sign this browser up"));
}
