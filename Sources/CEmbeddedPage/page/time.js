// Times in the page's language, in the viewer's zone and in that of an event's place.
import { isDay } from "./place.js";
import { locale, number, text } from "./texts.js";

// Intl has two digits in spans of a clock with 24 hours, whatever is asked for.
const hour = new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hourCycle === "h23" ? "2-digit" : "numeric";
const parts = { weekday: "short", day: "numeric", month: "short", hour, minute: "2-digit" };

/** What each format shows. `ahead` is for `ahead` to read. */
const kinds = {
  span: parts, spanWithYear: { ...parts, year: "numeric" }, month: { month: "short" }, clock: { hour, minute: "2-digit" },
  whole: { weekday: "long", day: "numeric", month: "long", year: "numeric", hour, minute: "2-digit" },
  date: { day: "numeric", month: "numeric", year: "numeric" },
  offset: { timeZoneName: "shortOffset" }, ahead: { timeZoneName: "longOffset" },
};

/** The formats that were asked for: one stays in the zone in which it was made. To make one takes longer than to write a row. */
const formats = new Map();
let viewerZone = null;
let askedAt = -Infinity;
/** A list of a thousand rows asks for the zone once: to ask takes as long as to write a row. */
const askMilliseconds = 50;

/** The name of the viewer's zone now. It changes when the computer travels. */
export function zone() {
  askedAt = performance.now();
  viewerZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return viewerZone;
}

/** A format in a zone. Without a zone it is the viewer's, also for one that this browser does not know. */
function format(kind, name = null) {
  if (name === null && performance.now() - askedAt >= askMilliseconds) zone();
  const timeZone = name ?? viewerZone;
  const key = `${kind} ${timeZone}`;
  if (!formats.has(key)) {
    try {
      formats.set(key, new Intl.DateTimeFormat(kind === "ahead" ? "en-US" : locale, { ...kinds[kind], timeZone }));
    } catch (error) {
      if (name === null) throw error;
      return format(kind);
    }
  }
  return formats.get(key);
}

/** The name of the zone that times of a zone are in: the viewer's for one that this browser does not know. */
export function knownZone(name) {
  format("ahead", name);
  return formats.has(`ahead ${name}`) ? name : viewerZone;
}

/** How many milliseconds the clock of a zone is ahead of UTC at a time. */
function ahead(time, zone) {
  const [, sign, ...digits] = format("ahead", zone).format(new Date(time)).match(/([+-])(\d+):(\d+):?(\d*)/) ?? [null, "+", 0, 0, 0];
  const [hours, minutes, seconds] = digits.map(Number);
  return Number(`${sign}1`) * ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** Whether the clocks of two zones show different times at a moment. Without a second zone it is the viewer's. */
export const clocksDiffer = (time, one, other) => ahead(time, one) !== ahead(time, other);

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

/** An event without an end, or with one before its start, is over this long after its start, as it is for the API. */
const openMilliseconds = 3 * 3_600_000;

/** Start and end of an event, and when it is over. The end is null if nobody knows it. */
export function times(event) {
  const start = new Date(event.started_at);
  const end = event.ended_at && new Date(event.ended_at) >= start ? new Date(event.ended_at) : null;
  return { start, end, over: end ?? new Date(start.getTime() + openMilliseconds) };
}

const spanIn = (format, { start, end }) => (end !== null && end > start ? format.formatRange(start, end) : format.format(start));

/** "Sat, 24 Oct, 12:45 – 15:15" */
export function shortSpan(event, now = new Date()) {
  const { start, end } = times(event);
  const isThisYear = [start, end ?? start].every((date) => date.getFullYear() === now.getFullYear());
  return spanIn(format(isThisYear ? "span" : "spanWithYear"), { start, end });
}

/** "Saturday, 24 October 2026 at 12:45 – 15:15" @param zone the viewer's without one */
export const longSpan = (event, zone) => spanIn(format("whole", zone), times(event));

/**
 * The times of an event at its place and for the viewer, with their days if those differ: { there: "19:00", here: "04:00" }. Null if the
 * clocks of both show the same, or nothing tells the zone of the place.
 */
export function bothTimes(event) {
  const { start, end } = times(event);
  const [ends, zones] = [[start, end ?? start], [event.time_zone, undefined]];
  if (!event.time_zone || !ends.some((time) => clocksDiffer(time, event.time_zone))) return null;
  const days = new Set(zones.flatMap((zone) => ends.map((time) => format("date", zone).format(time))));
  const span = (zone) => spanIn(format(days.size > 1 ? "span" : "clock", zone), { start, end });
  // The list does not ask for the second one.
  return { there: span(event.time_zone), get here() { return span(); } };
}

/** The sheet of a calendar: { day: "24", month: "Oct" }. */
export function sheet(event) {
  const { start } = times(event);
  return { day: number.format(start.getDate()), month: format("month").format(start) };
}

const startOfDay = (date, days = 0) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days);

/** The groups of the list, in their order: the ends of the keys of their texts. */
export const groups = ["now", "today", "tomorrow", "week", "later", "earlier"];

/** The group of an event. */
export function groupOf(event, now = new Date()) {
  const { start, over } = times(event);
  if (over < now) return "earlier";
  if (start <= now) return "now";
  if (start < startOfDay(now, 1)) return "today";
  if (start < startOfDay(now, 2)) return "tomorrow";
  return start < startOfDay(now, 8) ? "week" : "later";
}

/** "in 3 days", "on now", "over" */
export function distance(event, now = new Date()) {
  const { start, over } = times(event);
  if (over < now) return text("details.over");
  if (start <= now) return text("details.now");
  const minutes = Math.max(1, Math.round((start - now) / 60_000));
  if (minutes < 60) return relative.format(minutes, "minute");
  if (minutes < 24 * 60) return relative.format(Math.round(minutes / 60), "hour");
  return relative.format(Math.round((startOfDay(start) - startOfDay(now)) / day), "day");
}

/** The value of an input of type datetime-local, in a zone. */
export function inputValue(time, zone) {
  if (!time) return "";
  const moment = new Date(time).getTime();
  return new Date(moment + ahead(moment, zone)).toISOString().slice(0, 16);
}

const day = 86_400_000;

/**
 * The times of such a value for the API: two if the clock goes back and shows it twice, the earlier first. None for an empty one.
 * A value that the clock leaves out becomes the time after the gap, as far behind its end.
 */
export function fromInput(value, zone) {
  const shown = Date.parse(`${value}Z`);
  if (Number.isNaN(shown)) return [];
  // By the clock of the day before, and by that of the day after.
  const times = [-day, day].map((distance) => shown - ahead(shown + distance, zone));
  const meant = [...new Set(times)].filter((time) => time + ahead(time, zone) === shown);
  return (meant.length > 0 ? meant : [times[0]]).map((time) => new Date(time).toISOString());
}

/** "GMT+2", the distance of a zone's clock at a time. */
export const offsetOf = (time, zone) =>
  format("offset", zone).formatToParts(new Date(time)).find(({ type }) => type === "timeZoneName").value;

const yearsAround = 100;

/** What is wrong with the times of a form: { started_at: "…" }. The API takes every time of the years 0 to 9999. */
export function timeErrors({ started_at, ended_at }, now = new Date()) {
  const errors = {};
  for (const [name, time] of Object.entries({ started_at, ended_at })) {
    if (time && Math.abs(new Date(time).getFullYear() - now.getFullYear()) > yearsAround) {
      errors[name] = text("form.time.year", { years: yearsAround });
    }
  }
  if (started_at && ended_at && new Date(ended_at) < new Date(started_at)) errors.ended_at ??= text("form.time.order");
  return errors;
}

const longestYears = 1;
const furthestYears = 20;

/**
 * What is surely not meant in the times of a form, in sentences: { started_at: "…" }. A wrong year makes an event at least a year long, and
 * seasons and exhibitions are shorter. What began before today may go on.
 * @param before the event before the change; null for a new one
 */
export function timeDoubts(event, before = null, now = new Date()) {
  const { start, end, over } = times(event);
  const year = 365 * day;
  const isOver = ({ over }) => now - over > day;
  const whole = format("whole", event.time_zone);
  const doubts = {};
  const isNowOver = isOver({ over }) && (before === null || !isOver(times(before)));
  if (isNowOver) doubts.started_at = text("form.time.over", { time: whole.format(start) });
  if (start - now > furthestYears * year) doubts.started_at = text("form.time.far", { years: furthestYears });
  if (end - start >= longestYears * year) doubts.ended_at = text("form.time.long", { span: whole.formatRange(start, end) });
  return doubts;
}

/** The next full hour. */
export function nextHour(now = new Date()) {
  const date = new Date(now);
  date.setHours(date.getHours() + 1, 0, 0, 0);
  return date.toISOString();
}

/** When an evening and a weekend begin, and when a night ends. */
const [eveningHour, morningHour] = [17, 5];

/** The begin of a choice and the begin of the time behind it; null for none. */
function endsOf(when, now) {
  const at = (days, hour = 0) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  // Monday is 0.
  const weekday = (now.getDay() + 6) % 7;
  // The early morning belongs to the night before.
  const night = now.getHours() < morningHour ? -1 : 0;
  switch (when) {
    case "tonight": return [at(night, eveningHour), at(night + 1, morningHour)];
    case "today": return [at(0), at(1)];
    case "weekend": return [at(4 - weekday, eveningHour), at(7 - weekday)];
    case "week": return [at(0), at(7)];
    case "coming": return [now, null];
    case "any": return [null, null];
    default: return [new Date(`${when}T00:00`), startOfDay(new Date(`${when}T00:00`), 1)];
  }
}

/** The window of a choice for the API: without what is over, unless the visitor asks for a day or for all. */
export function windowOf(when, now = new Date()) {
  const [first, end] = endsOf(when, now);
  const minute = new Date(now);
  minute.setSeconds(0, 0);
  const from = first === null || isDay(when) ? first : new Date(Math.max(first, minute));
  return { ...(from && { from: from.toISOString() }), ...(end && { to: new Date(end - 1).toISOString() }) };
}

/** The window of a choice without what is over; null if all of it is. */
export function comingWindowOf(when, now = new Date()) {
  const { from, to } = windowOf(when, now);
  const window = { from: new Date(Math.max(now, from ? new Date(from) : now)).toISOString(), to };
  return to === undefined || window.from <= to ? window : null;
}

/** Tells of events whether they are on in the window of a choice. */
export function isIn(when, now = new Date()) {
  const [first, end] = endsOf(when, now);
  const from = first === null || isDay(when) ? first ?? -Infinity : Math.max(first, now);
  return (event) => {
    const { start, over } = times(event);
    return over >= from && (end === null || start < end);
  };
}

const lookSeconds = 10;

/**
 * Calls `look` every ten seconds, `minute` with each minute and `travelled` in another zone while the page is visible: no change tells of
 * the clock and of guests.
 */
export function followClock({ look, minute, travelled }) {
  let last = new Date().getMinutes();
  let lastZone = zone();
  const tick = () => {
    if (document.hidden) return;
    look();
    const now = new Date().getMinutes();
    if (now !== last) minute();
    last = now;
    if (zone() !== lastZone) travelled();
    lastZone = zone();
  };
  setInterval(tick, lookSeconds * 1000);
  document.addEventListener("visibilitychange", tick);
}
