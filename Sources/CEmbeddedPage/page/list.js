// The list beside the map: the same events for the keyboard and for screen readers.
import { byID, confirmed, element } from "./dom.js";
import { kilometres } from "./place.js";
import { compact, locale, text } from "./texts.js";
import { bothTimes, groupOf, groups, sheet, shortSpan, times } from "./time.js";

/** More rows at once than this only make the page slow. */
const rowsAtOnce = 100;
/** The rows of the list, and the list that they belong to. */
let shown = { key: null, rows: rowsAtOnce };
const kilometre = new Intl.NumberFormat(locale, { style: "unit", unit: "kilometer", maximumSignificantDigits: 2 });

const metre = new Intl.NumberFormat(locale, { style: "unit", unit: "meter" });

/** The distance of two places: "5.2 km", "140 m" */
export function distanceText(one, other) {
  const metres = Math.max(10, 10 * Math.round(100 * kilometres(one, other)));
  return metres < 1000 ? metre.format(metres) : kilometre.format(metres / 1000);
}

/**
 * @param content what View found
 * @param handlers { open(id), zoom(cluster), hint(id), more(isLoading), isMine(event), cityOf(cluster), distanceOf(event), orderOf() }:
 *   distanceOf returns null where the visitor is unknown; orderOf the place whose nearest events come first, null for the order of times
 * @param place the events of one place, if they are listed alone: { key, events, total, more }
 */
export function showList(content, handlers, place = null) {
  const list = byID("list");
  const row = document.activeElement?.closest?.("#list [data-key]");
  const focused = row?.dataset.key;
  const wasInView = row != null && isInView(row);
  const key = `${content.key} ${place?.key}`;
  if (key !== shown.key) shown = { key, rows: rowsAtOnce };
  const { events, more } = place ?? content;
  title(...(place === null ? titleOf(content) : [text("list.title.place", { count: place.total }), partOf(events)]));
  byID("all").hidden = place === null;
  const nearest = (place === null && !events?.length && content.nearest) || null;
  const order = byID("order");
  order.hidden = !(events?.length > 1) || events.every((event) => handlers.distanceOf(event) === null);
  order.textContent = text(handlers.orderOf() === null ? "list.order.distance" : "list.order.time");
  // One's own list has one's own events, and those that one attends.
  const other = content.kind === "mine" ? text("list.badge.attending") : null;
  const badgeOf = (event) => (handlers.isMine(event) ? text("list.badge.own") : other);
  const ways = nearest ? { name: "near", distanceOf: (event) => distanceText(nearest.here, event) } : { name: "event" };
  const found = eventGroups(nearest?.events ?? events ?? [], { ...handlers, badgeOf, ...ways }, nearest?.here ?? handlers.orderOf());
  if (events === undefined) {
    const near = nearest ? [...found, element("p", {}, text("list.clusters.note"))] : [];
    list.replaceChildren(...near, element("ul", {}, ...content.clusters.map((cluster) => clusterItem(cluster, handlers))));
  } else {
    list.replaceChildren(...found);
    const rest = events.length - shown.rows;
    if (rest > 0 || more) list.append(moreButton(rest, handlers));
  }
  // A live change must not take the focus away, not even one that ends the event which has it.
  if (!focused) return;
  const button = list.querySelector(`[data-key="${CSS.escape(focused)}"] button`) ?? byID("list-title");
  button.focus({ preventScroll: true });
  // Rows above may have another height now.
  if (wasInView) button.scrollIntoView({ block: "nearest" });
}

/** Whether a part of the list is on the screen. */
function isInView(row) {
  const [{ top, bottom }, panel] = [row, byID("panel")].map((part) => part.getBoundingClientRect());
  return bottom > Math.max(0, panel.top) && top < Math.min(innerHeight, panel.bottom);
}

/** @param rest the number of events that are loaded and not listed */
function moreButton(rest, { more }) {
  const show = async () => {
    const before = byID("list").querySelectorAll("li").length;
    shown.rows += rowsAtOnce;
    await more(rest <= 0);
    byID("list").querySelectorAll("li button")[before]?.focus();
  };
  const label = rest > 0 ? text("list.more.count", { count: Math.min(rest, rowsAtOnce) }) : text("list.more");
  return element("p", { class: "more", "data-key": "more" }, element("button", { type: "button", onclick: show }, label));
}

const partOf = (events) => (events.length > shown.rows ? text("list.part", { count: shown.rows }) : "");

/** Makes the row of an event that just came stand out. */
export function highlight(id) {
  byID("list").querySelector(`[data-key="event-${id}"]`)?.classList.add("fresh");
}

/** Title and note. */
function titleOf({ kind, events, total, more, isElsewhere, nearest }) {
  if (isElsewhere) {
    const older = kind === "none" ? [] : [" ", text("list.unknown.older")];
    return [text("list.unknown.title"), text("list.unknown.note"), ...older];
  }
  if (kind === "clusters") return [text("list.title.view", { count: total }), text(nearest ? "list.nearest.you" : "list.clusters.note")];
  if (kind === "mine") {
    const mine = text(more ? "list.title.mine.more" : "list.title.mine", { count: events.length });
    return [mine, events.length > 0 ? partOf(events) : text("list.mine.empty")];
  }
  const heading = text("list.title.view", { count: events.length });
  if (events.length > 0) return [heading, partOf(events)];
  const further = !nearest ? "list.empty.advice" : nearest.isFromVisitor ? "list.nearest.you" : "list.nearest.map";
  return [heading, text("list.empty"), " ", text(further)];
}

function title(heading, ...notes) {
  // A screen reader says the title when it changes.
  if (byID("list-title").textContent !== heading) byID("list-title").textContent = heading;
  byID("list-note").replaceChildren(...notes);
}

/** What is on and what comes, in the order of starts; then what is over, the latest first. @param here orders them by distance instead */
function eventGroups(events, handlers, here) {
  const now = new Date();
  if (here !== null) {
    const near = Map.groupBy(
      events.toSorted((one, other) => kilometres(here, one) - kilometres(here, other)).slice(0, shown.rows),
      (event) => groupOf(event, now) === "earlier");
    const list = (isOver) => element("ul", {}, ...(near.get(isOver) ?? []).map((event) => eventItem(event, handlers)));
    return near.has(true) ? [list(false), element("h3", {}, text("list.group.earlier")), list(true)] : [list(false)];
  }
  const sorted = events.toSorted((one, other) => times(one).start - times(other).start || one.id - other.id);
  const members = Map.groupBy(sorted, (event) => groupOf(event, now));
  members.get("earlier")?.reverse();
  const made = [];
  let room = shown.rows;
  for (const name of groups) {
    const rows = (members.get(name) ?? []).slice(0, room);
    room -= rows.length;
    if (rows.length === 0) continue;
    made.push(element("h3", {}, text(`list.group.${name}`)), element("ul", {}, ...rows.map((event) => eventItem(event, handlers))));
  }
  return made;
}

function eventItem(event, { name, open, hint, badgeOf, distanceOf }) {
  const badge = badgeOf(event);
  const distance = distanceOf(event);
  const there = bothTimes(event)?.there;
  const button = element(
    "button", {
      type: "button", onclick: () => open(event.id),
      onpointerenter: () => hint(event.id), onpointerleave: () => hint(null),
      onfocus: () => hint(event.id), onblur: () => hint(null),
    },
    calendar(event),
    element(
      "span", { class: "row" },
      element("span", { class: "name" }, element("strong", { dir: "auto" }, event.name), badge && element("span", { class: "badge" }, badge)),
      element(
        "span", { class: "when" },
        element("time", { datetime: event.started_at }, shortSpan(event)), distance && " · ", distance && element("span", { class: "far" }, distance),
        there && element("small", {}, " · ", text("list.there", { there }))),
      event.address && element("span", { class: "address", dir: "auto" }, event.address)));
  return element("li", { "data-key": `${name}-${event.id}`, class: groupOf(event) === "earlier" && "past" }, button);
}

/** The sheet of a calendar, for the eye: the text beside it has the same date. */
export function calendar(event) {
  const { day, month } = sheet(event);
  return element("span", { class: "sheet", "aria-hidden": "true" }, element("span", {}, month), element("b", {}, day));
}

function clusterItem(cluster, { zoom, cityOf }) {
  const city = cityOf(cluster);
  const button = element(
    "button", { type: "button", onclick: () => zoom(cluster) },
    element("span", { class: "cluster", "aria-hidden": "true" }, compact.format(cluster.count)),
    element(
      "span", { class: "row" },
      element("strong", {}, city ? text("list.cluster.city", { city }) : text("list.cluster.far")),
      element("span", { class: "address" }, text("list.count", { count: cluster.count }))));
  return element("li", { "data-key": `cluster-${cluster.lat}-${cluster.lon}` }, button);
}

/** Says that no one has added an event yet. */
export const showEmptyServer = () => title(text("list.server.empty"), text("list.server.empty.advice"));

/** Offers to sign up: this server shows events to known devices only. */
export function showSignUp(signUp) {
  title(text("list.members.title"));
  byID("list").replaceChildren();
  byID("list-note").replaceChildren(
    element("p", {}, text("list.members.note")),
    element("button", { type: "button", class: "primary", onclick: signUp }, text("page.signup")));
}

/** Says who the visitor is, or moved away, and offers a way back, the visitor's calendar, to forget the browser, and to erase the visitor. */
export function showWho(id, moved, { keep, subscribe, forget, erase }) {
  const offer = (name, action) => element("button", {
    type: "button", class: "link",
    onclick: async () => { if (await confirmed(text(`who.${name}.question`), { yes: text(`who.${name}.yes`) })) await action(); },
  }, text(`who.${name}`));
  byID("who").replaceChildren(...(id === null ? [moved] : [
    text("who.user", { id }), " ",
    element("button", { type: "button", class: "link", onclick: () => keep() }, text("who.keep")), " ",
    element("button", { type: "button", class: "link", onclick: subscribe }, text("who.calendar")), " ",
    offer("forget", forget), " ", offer("erase", erase),
  ]));
}

/** Says that the server goes on to erase the visitor. */
export const showErasing = () => byID("who").replaceChildren(text("who.erasing"));
