// The map page: map, list, details and form, and what each does to the others.
import * as api from "./api.js";
import { goOnBack, lookAtWay, showCalendar, showReturn, showWayBack } from "./back.js";
import { showDetails, showNotice, updateClock, updateGuests } from "./details.js";
import { announce, byID, confirmed, copy, element, isComposed, showStatus } from "./dom.js";
import { keyOf, queryOf, searched, shown } from "./filter.js";
import { EventForm } from "./form.js";
import { cityOf, loadCities, loadZones } from "./ground.js";
import { distanceText, highlight, showEmptyServer, showErasing, showList, showSignUp, showWho } from "./list.js";
import { closeZoom, EventMap, placeKey, streetZoom } from "./map.js";
import * as place from "./place.js";
import { addSearch } from "./search.js";
import * as session from "./session.js";
import { text } from "./texts.js";
import { followClock, comingWindowOf, groupOf, shortSpan, zone } from "./time.js";
import { View } from "./view.js";

const world = { lat: 25, lon: 10, zoom: 2 };
const { assets, tiles, attribution } = document.body.dataset;
const pageTitle = document.title;
const state = place.read();
let cities = [];
let form = null;
let hasEvents = false;
/** The element that opened the details or the form, by a selector: it gets the focus back. */
let opener = null;
/** Counts the details that were opened and closed: an answer that comes late does not count. */
let openings = 0;
/** The event of the details, and its version: null if no answer came. again: how the event of a notice is read again, if it is */
let detailed = { event: null, tag: null, again: null };
/** The turn in which the visitor opens an event that is still being read; null for none. */
let opening = null;
/** Where the visitor is; null before the visitor tells. */
let visitor = null;
/** How many of the nearest events are read. */
const nearCount = 20;
/** How long the ground of the map waits for the first events. */
const groundMilliseconds = 500;
/** The zoom that shows a city. */
const cityZoom = 11;
/** Whether the list has the nearest events first. */
let isByDistance = false;
/** The search for the nearest events of a view that lists none, and what the last one found: { key, events, here, isFromVisitor }. */
let looking = new AbortController();
let nearest = null;

const isMine = (event) => session.currentUser() !== null && event.owner.id === session.currentUser();
const distanceOf = (event) => (visitor === null ? null : distanceText(visitor, event));
const rows = {
  open, more, isMine, distanceOf, orderOf: () => (isByDistance ? visitor : null), hint: (id) => map.hint(id), zoom,
  cityOf: (cluster) => cityOf(cluster, cities)?.name,
};
const kindOf = (event) => [isMine(event) && "mine", groupOf(event) === "earlier" && "past"].filter(Boolean).join(" ");
const labelOf = (event) => [event.name, shortSpan(event)];

// Panel: list, details or form.

function showPanel(name, title = null) {
  document.title = title === null ? pageTitle : `${title} · Humon`;
  for (const view of ["list", "details", "form"]) byID(`${view}-view`).hidden = view !== name;
  byID("panel").scrollTop = 0;
  if (name === "form") return;
  form = null;
  map.draft(null);
}

/** Resolves to false if the visitor would rather go on writing. */
async function leavesForm() {
  const choices = { yes: text("form.leave.yes"), no: text("form.leave.no") };
  if (form?.hasInput && !(await confirmed(text("form.leave"), choices))) return false;
  if (form !== null) EventForm.forget();
  form = null;
  state.form = false;
  return true;
}

async function closeForm() {
  if (!(await leavesForm())) return;
  await leaveEntry({ returns: true });
  if (state.event === null) showEvents();
  else open(state.event);
}

/** @param returns whether the event of the entry before is shown again */
async function leaveEntry({ returns = false } = {}) {
  if (await place.leave() && returns) state.event = place.read().event;
  save();
}

function backToList() {
  const id = state.event;
  state.event = null;
  showEvents(id);
  leaveEntry();
}

/** Shows the list in the panel, and leaves the focus. */
function toList() {
  openings += 1;
  map.select(null);
  showPanel("list");
}

function showEvents(id = null) {
  toList();
  (document.querySelector(id === null ? opener : `:is([data-key="event-${id}"], [data-key="near-${id}"]) button`) ?? byID("list-title")).focus?.();
}

/** @param zoom the least zoom of the map, which then moves to the event  @param isAgain whether the details are shown already */
async function open(id, { focuses = true, moves = true, zoom = 0, isAgain = false } = {}) {
  opener = "#add";
  if (!(await leavesForm())) return;
  const turn = ++openings;
  if (!isAgain) opening = turn;
  try {
    const { data, tag, end = null } = await api.event(id).catch((error) => {
      if (error.status === 404 || error.status === 410) return { data: error.event, end: error };
      const known = view.event(id) ?? (detailed.event?.id === id ? detailed.event : null);
      // Without an answer the event is shown as it was loaded; it is read again when the connection is back.
      if (!error.isTemporary || known === null) throw error;
      return { data: known, tag: known === detailed.event ? detailed.tag : null };
    });
    await place.left();
    if (turn !== openings) return;
    const hadFocus = byID("details-view").contains(document.activeElement);
    state.event = id;
    if (end !== null) {
      if (detailed.event !== null && isAgain) announce(text("details.gone"));
      notifyOfEnd(end);
    } else {
      detailed = { event: data, tag, again: null };
      showPanel("details", data.name);
      showDetails(data, tag, {
        close: () => backToList(), edit: write,
        cancelled: () => { backToList(); view.reload(); },
        attended: () => state.mine && view.reload(),
      });
      map.hint(null);
      map.select(data);
    }
    if (data !== null && (zoom > 0 || (moves && !map.contains(data.lat, data.lon)))) map.show(data.lat, data.lon, zoom);
    save();
    if (focuses || hadFocus) focusDetails();
  } catch (error) {
    if (!(error instanceof api.APIError)) throw error;
    await place.left();
    // A notice stays as it is, unless another attempt has no use.
    if (turn !== openings || (isAgain && detailed.again && (error.isTemporary || !detailed.again.isPolled))) return;
    state.event = id;
    notify(text("details.unread"), error.message, null, error.status === 401 ? { signUp } : {});
    detailed.again = { moves, zoom, from: place.viewText(map.view), isPolled: error.isTemporary };
    if (focuses) focusDetails();
  } finally {
    if (opening === turn) opening = null;
  }
}

/** Says something in the place of the details or of the form, until the visitor leaves. @param event its time and place are shown */
function notify(title, note, event = null, handlers = {}) {
  openings += 1;
  detailed = { event: null, tag: null, again: null };
  showPanel("details", title);
  showNotice(title, note, event, { close: () => backToList(), ...handlers });
  map.hint(null);
  map.select(event);
  save();
}

/** Says that an event is not there. @param event what it was; null if nobody may know */
function notifyOfEnd({ status, message, event }) {
  if (event !== null) notify(text("details.cancelled", { name: event.name }), text("details.cancelled.note"), event);
  else notify(text("details.missing"), status === 410 ? message : text("details.missing.note"));
  detailed.again = { moves: false };
}

function adviseCookies() {
  notify(text("page.cookies.title"), text("page.cookies.advice"));
  focusDetails();
}

const signUp = () => (session.keepsCookies()
  ? session.signedIn(() => api.clusters(api.world, {}, 0)).then(() => view.reload()).then(openAgain)
    .catch((error) => { if (!(error instanceof api.APIError)) throw error; announce(error.message); })
  : adviseCookies());

const focusDetails = () => byID("details-view").querySelector("h2").focus();

/** Reads the event of the details or of a notice again, if they are shown. */
function openAgain() {
  const { hidden, dataset } = byID("details-view");
  // What the visitor opens comes first, and is compared with the event later.
  const { event, again } = detailed;
  if (hidden || (event ?? again) === null || opening !== null || dataset.ending === String(state.event)) return;
  // The map goes with an event in view, and to the event of a notice. It leaves alone a visitor who looked elsewhere.
  const moves = event === null ? again.moves && again.from === place.viewText(map.view) : map.contains(event.lat, event.lon);
  open(state.event, { moves, zoom: moves ? again?.zoom : 0, focuses: false, isAgain: true });
}

/** The stream tells only of what is in view: details of an event elsewhere are compared with the event. */
async function lookAtDetails() {
  if (detailed.again?.isPolled) return openAgain();
  if (byID("details-view").hidden || detailed.event === null) return;
  updateGuests();
  const id = state.event;
  const isOld = await api.event(id).then(({ tag }) => tag !== detailed.tag, ({ status }) => status === 404 || status === 410);
  if (isOld && id === state.event) openAgain();
}

/** The event of the form may end elsewhere, in view of the stream or not. */
async function lookAtForm() {
  const looking = form;
  if (looking === null || state.event === null) return;
  const end = await api.event(state.event).then(() => null, (error) => error);
  if (looking === form && (end?.status === 404 || end?.status === 410)) form.end(end);
}

/** Opens the form for an event that has no id yet, or for one to change. */
async function write(event, tag = null, draft = null) {
  if (!(await leavesForm())) return;
  await place.left();
  opener = "#add";
  if (!session.keepsCookies()) return adviseCookies();
  openings += 1;
  state.form = true;
  state.event = event.id ?? null;
  save();
  showPanel("form", text(event.id === undefined ? "form.title.add" : "form.title.change"));
  if (event.id === undefined) map.select(null);
  form = new EventForm(event, tag, {
    close: closeForm, zones: loadZones(assets),
    moved: (lat, lon, zoom) => { map.draft({ lat, lon }); map.show(lat, lon, zoom); },
    saved: async (id, event, isNew) => {
      const isHidden = shown([event], state).length === 0;
      announce(text(isHidden ? "form.saved.hidden" : isNew ? "form.saved.new" : "form.saved.changed"));
      map.show(event.lat, event.lon);
      await view.reload();
      form = null;
      state.form = false;
      if (!isNew) await leaveEntry({ returns: true });
      open(id);
    },
  }, draft);
  map.draft(form.chosen);
  form.focus();
}

// Map and list.

/** A burst of changes makes the list once. */
const listMilliseconds = 50;
let listing = null;
/** The place whose events are listed alone: { key, keys } of events that are shown, { box, lat, lon } of a cluster; null for all. */
let listed = null;
/** The events that came since the list was made. */
const fresh = new Set();

function listNow(content) {
  clearTimeout(listing);
  listing = null;
  showList(content, rows, listedPlace(content));
  fresh.forEach(highlight);
  fresh.clear();
}

/** The events of the place that is listed alone; null without one. */
function listedPlace(content) {
  if (listed?.box) return content.place ? { key: listed.box, ...content.place } : null;
  if (listed === null) return null;
  const events = (content.events ?? []).filter((event) => listed.keys.has(placeKey(event)));
  if (events.length === 0) listed = null;
  return listed && { ...listed, events, total: events.length, more: false };
}

/** Lists more events than before. @param isLoading whether they must be loaded first */
function more(isLoading) { return isLoading ? view.more() : listNow(view.content); }

function listSoon(content) {
  listing ??= setTimeout(() => listNow(content), listMilliseconds);
}

/** Opens a cluster: the event of one, its part of the map, or the list of its events where no zoom divides it. */
async function zoom({ count, bbox }) {
  const only = count === 1 ? await api.inBox(bbox.join(), queryOf(state), 2).catch(() => null) : null;
  if (only?.events.length === 1) return open(only.events[0].id);
  const cluster = map.view.zoom < closeZoom ? null : place.placeOfCluster(bbox, map.isClosest);
  if (cluster === null) map.showBox(bbox);
  else list({ ...cluster, zoom: map.view.zoom, filter: keyOf(state) });
}

/** Lists the events of one place; of all places if it is null. */
async function list(place) {
  if (!(await leavesForm())) return;
  const loads = Boolean(place?.box || listed?.box);
  listed = place;
  state.event = null;
  listNow(view.content);
  toList();
  byID("list-title").focus();
  if (loads) load();
  leaveEntry();
}

const map = new EventMap(byID("map"), state.view ?? world, {
  moved: () => { save(); load(); },
  open, zoom, list,
  place: async (lat, lon) => {
    const isClose = map.view.zoom >= closeZoom;
    if (!isClose) map.show(lat, lon, closeZoom);
    if (form === null) await write(isClose ? { lat, lon } : {});
    else if (isClose) form.place(lat, lon);
    if (form === null) return;
    announce(isClose ? text("map.place", { lat, lon }) : text("map.closer"));
    map.draft(form.chosen);
  },
});

const view = new View({
  shown(content) {
    hasEvents ||= content.kind === "clusters" || content.events.length > 0;
    showSubscription(content);
    if (content.kind === "clusters") map.showClusters(content.clusters);
    else map.showEvents(content.events, kindOf, labelOf);
    fresh.clear();
    if (nearest?.key === content.key && needsNearest(content)) content.nearest = nearest;
    listNow(content);
    if (!hasEvents) lookForEvents();
    lookFurther(content);
  },
  put(event, content, isNew) {
    hasEvents = true;
    map.put(event, kindOf(event), labelOf(event));
    if (isNew) {
      map.highlight(event.id);
      fresh.add(event.id);
    }
    listSoon(content);
  },
  gone(id, content) {
    map.remove(id);
    listSoon(content);
    lookFurther(content);
  },
  unknown: (content) => listNow(content),
  changed(id) {
    if (id !== state.event) return;
    openAgain();
    lookAtForm();
  },
  busy: (isBusy) => byID("list").setAttribute("aria-busy", String(isBusy)),
  refused() {
    this.state("failed", text("status.refused"));
    showSignUp(signUp);
    session.restore();
  },
  state(name, failure) {
    const before = showStatus(name, failure);
    if (name === "live" && before !== "live" && before !== "starting") returned();
  },
});

function load() {
  const { when, kind, words, mine } = state;
  const { zoom } = map.view;
  // The list of a cluster goes with the cluster.
  const isThere = listed?.box && !mine && listed.filter === keyOf(state) && listed.zoom === zoom && map.contains(listed.lat, listed.lon);
  if (listed?.box && !isThere) listed = null;
  return view.load({ bounds: map.bounds, zoom, filter: { when, kind, words }, mine, listed: listed?.box ?? null });
}
const save = () => place.write({ ...state, view: map.view });

/** The connection is back: what was said about it ends, and an open event is read again. */
function returned() {
  if (form !== null) form.connected();
  else openAgain();
}

/** The events of the filter around a place that are not over, the nearest first. */
async function comingAround(place, signal) {
  const window = comingWindowOf(state.when);
  return window === null ? [] : api.nearest(place, { ...queryOf(state), ...window }, nearCount, signal);
}

const isVisitorInView = () => visitor !== null && map.contains(visitor.lat, visitor.lon);

/** Whether nothing is in view, or more than a list has, and the visitor wants to see the nearest first. */
const needsNearest = ({ kind, events }) =>
  (kind === "events" ? events.length === 0 : kind === "clusters" && isByDistance && isVisitorInView());

/** Lists what is nearest, if the view lists no event. The search before ends. */
async function lookFurther(content) {
  looking.abort();
  if (!needsNearest(content)) return;
  looking = new AbortController();
  const { signal } = looking;
  const isFromVisitor = isVisitorInView();
  const here = isFromVisitor ? visitor : map.view;
  const events = await comingAround(here, signal).catch(() => null);
  // Without an answer the list stays as it is.
  if (events === null || content !== view.content || !needsNearest(content)) return;
  nearest = events.length === 0 ? null : { key: content.key, events, here, isFromVisitor };
  if (nearest === (content.nearest ?? null)) return;
  content.nearest = nearest;
  listNow(content);
}

/** An empty server has other words than an empty place on a full map. */
async function lookForEvents() {
  const { clusters } = await api.clusters(api.world, {}, 0).catch(() => ({ clusters: [{}] }));
  if (!(hasEvents ||= clusters.length > 0)) showEmptyServer();
}

// Controls.

const filters = byID("filters").elements;

function showFilters() {
  // A day is none of the choices.
  for (const choice of filters.when) choice.checked = choice.value === state.when;
  // A date is typed part by part.
  if (document.activeElement !== filters.day) filters.day.value = place.isDay(state.when) ? state.when : "";
  for (const choice of filters.kind) choice.checked = choice.value === (state.kind ?? "");
  if (document.activeElement !== filters.words) filters.words.value = state.words;
  filters.mine.checked = state.mine;
}

async function filter(chosen) {
  if (!(await leavesForm())) return showFilters();
  Object.assign(state, chosen, { event: null });
  showFilters();
  toList();
  load();
  leaveEntry();
}

byID("kinds").append(...place.kinds.map((kind) => element(
  "label", {}, element("input", { type: "radio", name: "kind", value: kind }), element("span", {}, text(`kind.${kind}`)))));
byID("filters").addEventListener("change", ({ target: { name, value, checked } }) => {
  if (name === "mine") filter({ mine: checked });
  else if (name === "kind") filter({ kind: value || null });
  else if (name === "when" || place.isDay(value)) filter({ when: value });
});
byID("filters").addEventListener("submit", (submission) => submission.preventDefault());
addSearch({
  cities: () => cities,
  go: ({ lat, lon }, isCity) => map.setView({ lat, lon, zoom: isCity ? cityZoom : Math.max(closeZoom, map.view.zoom) }),
  look: (typed) => { if (searched(typed) !== state.words) filter({ words: searched(typed) }); },
});

/** Offers the calendar of what is in view. */
function showSubscription({ area, kind }) {
  const [part, [link, button, address]] = [byID("subscription"), byID("subscription").children];
  api.isPublic.then((isPublic) => { part.hidden = kind === "mine" || !isPublic; });
  const { category, q } = queryOf(state);
  const path = `${location.host}/v1/events.ics?${api.query({ bbox: area, category, q })}`;
  link.href = `webcal://${path}`;
  if (address.textContent.endsWith(path)) return;
  address.textContent = `${location.protocol}//${path}`;
  address.hidden = true;
  button.onclick = async () => announce(text((await copy(address)) ? "event.copied" : "event.selected"));
}

byID("order").addEventListener("click", () => {
  isByDistance = !isByDistance;
  listNow(view.content);
});
function addEvent() {
  const { lat, lon, zoom } = map.view;
  return write(zoom < closeZoom ? {} : { lat: Number(lat.toFixed(6)), lon: Number(lon.toFixed(6)) });
}

/** Opens the form that the address names, with what was typed before a reload. */
async function openForm() {
  const kept = EventForm.kept(state.event);
  if (kept !== null) return write(kept.event, kept.tag, kept);
  if (state.event === null) return addEvent();
  state.form = false;
  open(state.event);
}

document.querySelector(".skip").addEventListener("click", (click) => {
  // The part of the address behind # is the state.
  click.preventDefault();
  byID("panel").focus();
});
byID("add").addEventListener("click", addEvent);
byID("all").addEventListener("click", () => list(null));
byID("near").addEventListener("click", () => {
  const failed = () => announce(text("page.location.unknown"));
  if (!navigator.geolocation) return failed();
  navigator.geolocation.getCurrentPosition(({ coords }) => showNear({ lat: coords.latitude, lon: coords.longitude }), failed);
});

async function showNear(here) {
  visitor = here;
  isByDistance = true;
  listNow(view.content);
  const near = state.mine ? [] : await comingAround(here).catch(() => []);
  const [first] = near;
  // With the nearest event two more that are not much further.
  const last = near.slice(0, 3).findLast((event) => place.kilometres(here, event) <= 2 * place.kilometres(here, first)) ?? null;
  if (map.showVisitor(here, last)) announce(text("map.near.distance", { distance: distanceText(here, first) }));
  // The map may have been there.
  lookFurther(view.content);
}
document.addEventListener("keydown", (press) => {
  if (press.key !== "Escape" || isComposed(press) || document.querySelector("dialog[open]")) return;
  // The same key would close the question that it opens.
  press.preventDefault();
  if (form !== null) closeForm();
  else if (!byID("details-view").hidden) backToList();
  else if (listed !== null) list(null);
});
// The visitor went back, or changed the address.
window.addEventListener("popstate", async () => {
  const { event } = state;
  const next = place.read();
  if (form !== null && next.form) return;
  // The form keeps its entry.
  if (form !== null && !(await leavesForm())) return save();
  // The same view and filter have the same list: its rows stay as they are.
  const isMoved = next.view !== null && place.viewText(next.view) !== place.viewText(map.view);
  const isOther = isMoved || keyOf(next) !== keyOf(state) || next.mine !== state.mine;
  Object.assign(state, next);
  showFilters();
  if (isMoved) map.setView(state.view);
  if (state.form) openForm();
  else if (state.event !== null) open(state.event, { zoom: state.view ? 0 : streetZoom });
  else showEvents(event);
  if (isOther) load();
});
byID("return").addEventListener("click", () => showReturn());

function showVisitor() {
  const moved = session.movedUser();
  const sentence = moved === null ? "" : session.movedText(moved);
  showWho(session.currentUser(), sentence, { keep: showWayBack, subscribe: showCalendar, forget: session.forget, erase });
}

/** Erases the visitor, and shows how far that has come. */
async function erase() {
  try {
    await session.erase(showErasing);
    announce(text("who.erased"));
  } catch (error) {
    if (!(error instanceof api.APIError)) throw error;
    announce(error.message);
    showVisitor();
  }
}

/** Goes on to show an erasure that had not come to its end when the page was left. */
async function goOnErasing() {
  if (!await session.finishErasure(showErasing)) return;
  announce(text("who.erased"));
  showVisitor();
}

session.onUserChange((id, moved) => {
  showVisitor();
  if (moved !== null) announce(session.movedText(moved));
  view.reload();
});

// Start.
showFilters();
const loadingCities = loadCities(assets);
showVisitor();
goOnBack();
session.restore();
goOnErasing();
if (state.view === null) map.setView((await loadZones(assets)).find(({ names }) => names.includes(zone())) ?? world);
const loading = load();
if (state.form) openForm();
else if (state.event !== null) open(state.event, { focuses: false, zoom: state.view ? 0 : streetZoom });
for (const choice of byID("filters").querySelectorAll(":checked")) choice.parentElement.scrollIntoView({ inline: "center" });
loadingCities.then((list) => {
  cities = list;
  // The clusters may have come before their names.
  if (view.content.kind === "clusters") listNow(view.content);
});
// The ground takes longer to draw than the events: it comes after them, or without them if they take long.
Promise.race([loading, new Promise((resolve) => setTimeout(resolve, groundMilliseconds))])
  .then(() => map.addGround(assets, { template: tiles, attribution }, loadingCities));

// Another window of the browser may have signed it up, or changed what is the visitor's, out of view of the stream.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  session.restore();
  if (state.mine) view.reload();
});
followClock({
  look: () => { lookAtDetails(); lookAtForm(); lookAtWay(); }, minute: () => { updateClock(); view.tick(); },
  travelled: () => {
    if (view.content.kind !== "none") listNow(view.content);
    view.reload();
    openAgain();
    form?.showBothTimes();
  },
});
