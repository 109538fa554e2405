// What the map shows, kept in the URL, so that a link or a reload shows the same: #map=11/52.52/13.4&when=week&kind=music&event=12

/** The secret of the link that opened this page, "" without one; null at the page's usual address. */
export const opened = location.pathname === "/back" ? location.hash.match(/^#([0-9a-z]{26})(?![0-9a-z])/i)?.[1] ?? "" : null;
// So neither the browser's way back nor a copied address leads to it. The list of visited pages keeps it all the same. This module imports
// none, so the secret does not wait in the address for the texts.
if (opened !== null) history.replaceState(null, "", `/${location.search}`);

/** The choices of a time, besides a day such as "2026-12-24". The first is that of an address without one; "any" has past events too. */
export const choices = ["coming", "tonight", "today", "weekend", "week", "any"];

export const isDay = (when) => /^[12]\d{3}-\d{2}-\d{2}$/.test(when) && Date.parse(when) > 0 && new Date(when).toISOString().startsWith(when);

/** The kinds of events, in the order of the form and of the filter. The API may know more. */
export const kinds = ["music", "stage", "film", "art", "learning", "sport", "outdoors", "food", "games", "market", "family", "community"];

/** The most letters of a search. */
const longestWords = 100;

/** The state in the URL. Parts that are missing or unusable have their default; `view` is null without one. */
export function read(hash = location.hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const [zoom, lat, lon] = (fields.get("map") ?? "").split("/").map(Number);
  const isUsable = [zoom, lat, lon].every(Number.isFinite) && Math.abs(lat) <= 90 && zoom >= 0 && zoom <= 19;
  // A chat may add its full stop to a link.
  const event = fields.get("event")?.match(/^\d{1,15}/)?.[0];
  const [when, kind] = [fields.get("when") ?? "", fields.get("kind")];
  return {
    view: isUsable ? { zoom, lat, lon } : null,
    when: choices.includes(when) || isDay(when) ? when : choices[0],
    kind: kinds.includes(kind) ? kind : null,
    words: (fields.get("q") ?? "").trim().slice(0, longestWords),
    mine: fields.get("mine") === "1",
    event: event === undefined ? null : Number(event),
    form: fields.get("form") === "1",
  };
}

/** A view in the URL. */
export function viewText({ zoom, lat, lon }) {
  const digits = Math.max(0, Math.ceil(zoom / 3));
  return `${zoom}/${lat.toFixed(digits)}/${lon.toFixed(digits)}`;
}

/** Puts the state into the URL. An event or a form that opens makes an entry in the history, so that "back" closes it. */
export function write({ view, when, kind, words, mine, event, form }) {
  const parts = [`map=${viewText(view)}`, `when=${when}`];
  if (kind !== null) parts.push(`kind=${kind}`);
  if (words !== "") parts.push(`q=${encodeURIComponent(words)}`);
  if (mine) parts.push("mine=1");
  if (event !== null) parts.push(`event=${event}`);
  if (form) parts.push("form=1");
  const before = read();
  const opens = !before.form && (form || (event !== null && before.event === null));
  history[opens ? "pushState" : "replaceState"](opens ? { opened: true } : history.state, "", `#${parts.join("&")}`);
}

/** Ends when the browser has left the entry of what was closed. */
let leaving = null;
const longestLeavingMilliseconds = 500;
// No other listener hears of it.
window.addEventListener("popstate", (event) => {
  if (leaving === null) return;
  event.stopImmediatePropagation();
  leaving.resolve();
});

/** Leaves the entry of details or of a form, so that none stays that does nothing. Resolves to false if they made none. */
export async function leave() {
  if (!history.state?.opened) return false;
  leaving = Promise.withResolvers();
  history.back();
  await Promise.race([leaving.promise, new Promise((resolve) => setTimeout(resolve, longestLeavingMilliseconds))]);
  leaving = null;
  return true;
}

/** Waits until no entry is being left. */
export const left = () => leaving?.promise;

const number = String.raw`[-+]?\d+(?:[.,]\d+)?`;
const oneNumber = new RegExp(`^${number}$`);
const part = (mark) => String.raw`(?:(\d+(?:[.,]\d+)?)\s*(?:${mark})\s*)?`;
const angle = (sides) => String.raw`([${sides}]?)\s*(${number})\s*(?:°\s*${part("['′’]")}${part(`["″”]|''`)})?([${sides}]?)`;
const angles = (one, other) => new RegExp(String.raw`^[[(]?\s*${angle(one)}\s*[,;/\s]\s*${angle(other)}\s*[\])]?[,;]?$`, "i");
const [latFirst, lonFirst] = [angles("NS", "EW"), angles("EW", "NS")];

/** A text with the signs of a keyboard instead of their kin: "−" and "–" are a minus, "º" is a degree. */
const plain = (text) => text.replace(/[−–]/g, "-").replace(/º/g, "°");

/** The number of degrees in a text, with a decimal point or comma; null if there is none. */
export const degrees = (text) => (oneNumber.test(plain(text)) ? Number(plain(text).replace(",", ".")) : null);

/** The pair in a geo URI (RFC 5870): Android's apps share a place as a query at 0,0. Another text stays as it is. */
function fromURI(text) {
  const [, point, query] = text.match(/^geo:([^,;?]+,[^,;?]+)[^?]*(?:\?(?:.*&)?q=([^(&]*))?/i) ?? [null, text];
  return query !== undefined && /^0(\.0*)?,0(\.0*)?$/.test(point) ? query.replace(/%2C/gi, ",") : point;
}

/** The two numbers of a text such as "[40.71, -74]", "48,85° N; 2,35° E" or "40°42'46"N 74°0'21"W", as texts: { lat, lon }. Null for another. */
export function coordinates(text) {
  const pair = plain(fromURI(text)).trim();
  // "52,5" is one number, and "47° 36.1" one angle.
  if (oneNumber.test(pair) || pair.match(/°/g)?.length === 1) return null;
  const isLatFirst = latFirst.test(pair);
  const found = pair.match(isLatFirst ? latFirst : lonFirst)?.slice(1);
  if (!found) return null;
  const [one, other] = [found.slice(0, 5), found.slice(5)].map(([before, whole, minutes, seconds, after]) => {
    const [number, ...parts] = [whole, minutes ?? "", seconds ?? ""].map((text) => text.replace(/[-+]/, "").replace(",", "."));
    const sum = minutes ?? seconds ? (Number(number) + parts[0] / 60 + parts[1] / 3600).toFixed(6) : number;
    return (/[SW]/i.test(before + after) || whole.startsWith("-") ? "-" : "") + sum;
  });
  return isLatFirst ? { lat: one, lon: other } : { lat: other, lon: one };
}

/** A text without accents and case, for comparisons. */
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const earthKilometres = 6371.0088;
const radians = (degrees) => (degrees * Math.PI) / 180;

/** The great-circle distance of two places, as the API measures it. Source: the haversine formula. */
export function kilometres(one, other) {
  const [lat, lon] = [radians(other.lat - one.lat), radians(other.lon - one.lon)];
  const square = Math.sin(lat / 2) ** 2 + Math.cos(radians(one.lat)) * Math.cos(radians(other.lat)) * Math.sin(lon / 2) ** 2;
  return 2 * earthKilometres * Math.asin(Math.min(1, Math.sqrt(square)));
}

/** The name of the zone whose place is the nearest one. @param zones each { lat, lon, names }  @returns null without one, or for {} */
export function nearestZone(zones, place) {
  if (zones.length === 0 || place.lat === undefined) return null;
  const distances = zones.map((zone) => kilometres(zone, place));
  return zones[distances.indexOf(Math.min(...distances))].names[0];
}

/** Web Mercator ends here. The map shows what is nearer to a pole at its edge. */
const edge = 85;

const wrapped = (lon) => ((((lon + 180) % 360) + 360) % 360) - 180;

/** The box of a cluster that no zoom divides, as the API takes it, and its middle; null for a wider one. Degrees are rounded. */
export function placeOfCluster([west, south, east, north], isClosest) {
  if (!isClosest && Math.max(east - west, north - south) > 1e-5) return null;
  const margin = 1e-6;
  const box = [wrapped(west - margin), Math.max(-90, south - margin), wrapped(east + margin), Math.min(90, north + margin)];
  return { box: box.map((degrees) => degrees.toFixed(7)).join(), lat: (south + north) / 2, lon: (west + east) / 2 };
}

/** The box of the API for the bounds of a map: west may be greater than east, across the date line. */
export function box(bounds) {
  const south = bounds.getSouth() <= -edge ? -90 : bounds.getSouth();
  const north = bounds.getNorth() >= edge ? 90 : bounds.getNorth();
  const isWhole = bounds.getEast() - bounds.getWest() >= 360;
  const [west, east] = isWhole ? [-180, 180] : [wrapped(bounds.getWest()), wrapped(bounds.getEast())];
  return [west, south, east, north].map((number) => number.toFixed(6)).join(",");
}

/** The smallest box around events, and 100 m more; null without events. */
export function boxAround(events) {
  if (events.length === 0) return null;
  const [lats, lons] = [events.map(({ lat }) => lat), events.map(({ lon }) => lon)];
  const margin = 0.001;
  const [west, east] = [Math.max(-180, Math.min(...lons) - margin), Math.min(180, Math.max(...lons) + margin)];
  const [south, north] = [Math.max(-90, Math.min(...lats) - margin), Math.min(90, Math.max(...lats) + margin)];
  return [west, south, east, north].map((number) => number.toFixed(6)).join(",");
}
