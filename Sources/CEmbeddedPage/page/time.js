// Times in the viewer's zone and the page's language.
import { locale, number, text } from "./texts.js";

// Intl has two digits in spans of a clock with 24 hours, whatever is asked for.
const hour = new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hourCycle === "h23" ? "2-digit" : "numeric";
const parts = { weekday: "short", day: "numeric", month: "short", hour, minute: "2-digit" };

/** The formats of one zone. A format stays in the zone in which it was made. */
let formats = { zone: null };
let askedAt = -Infinity;
/** A list of a thousand rows asks for the zone once: to ask takes as long as to write a row. */
const askMilliseconds = 50;

/** The formats of the viewer's zone, which changes when the computer travels. */
function here() {
  if (performance.now() - askedAt < askMilliseconds) return formats;
  askedAt = performance.now();
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone === formats.zone) return formats;
  const format = (options) => new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
  formats = {
    zone, span: format(parts), spanWithYear: format({ ...parts, year: "numeric" }), month: format({ month: "short" }),
    whole: format({ weekday: "long", day: "numeric", month: "long", year: "numeric", hour, minute: "2-digit" }),
    offset: format({ timeZoneName: "shortOffset" }),
  };
  return formats;
}

/** The name of the viewer's zone now. */
export function zone() {
  askedAt = -Infinity;
  return here().zone;
}

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

/** An event without an end, or with one before its start, is over this long after its start, as it is for the API. */
const openMilliseconds = 3 * 3_600_000;

/** Start and end of an event, and when it is over. The end is null if nobody knows it. */
export function times(event) {
  const start = new Date(event.started_at);
  const end = event.ended_at && new Date(event.ended_at) >= start ? new Date(event.ended_at) : null;
  return { start, end, over: end ?? new Date(start.getTime() + openMilliseconds) };
}

/** "Sat, 24 Oct, 12:45 – 15:15" */
export function shortSpan(event, now = new Date()) {
  const { start, end } = times(event);
  const isThisYear = [start, end ?? start].every((date) => date.getFullYear() === now.getFullYear());
  const format = isThisYear ? here().span : here().spanWithYear;
  return end > start ? format.formatRange(start, end) : format.format(start);
}

/** "Saturday, 24 October 2026 at 12:45 – 15:15" */
export function longSpan(event) {
  const { start, end } = times(event);
  const { whole } = here();
  return end > start ? whole.formatRange(start, end) : whole.format(start);
}

/** The sheet of a calendar: { day: "24", month: "Oct" }. */
export function sheet(event) {
  const { start } = times(event);
  return { day: number.format(start.getDate()), month: here().month.format(start) };
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

/** The value of an input of type datetime-local. */
export function inputValue(time) {
  if (!time) return "";
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const day = 86_400_000;

/**
 * The times of such a value for the API: two if the clock goes back and shows it twice, the earlier first. None for an empty one.
 * A value that the clock leaves out becomes the time after the gap, as far behind its end.
 */
export function fromInput(value) {
  // The earlier of two.
  const time = new Date(value).getTime();
  if (Number.isNaN(time)) return [];
  const offset = (distance) => new Date(time + distance).getTimezoneOffset();
  const later = time + (offset(day) - offset(-day)) * 60_000;
  const times = [time, later].map((time) => new Date(time).toISOString());
  return later > time && inputValue(times[0]) === inputValue(times[1]) ? times : [times[0]];
}

/** "GMT+2", the distance of the viewer's clock at a time. */
export const offsetOf = (time) => here().offset.formatToParts(new Date(time)).find(({ type }) => type === "timeZoneName").value;

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
  const { whole } = here();
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

/** The window of a choice: from now to the end of the day, or of the seventh day. Empty for any time. */
export function windowOf(when, now = new Date()) {
  if (when === "any") return {};
  const from = new Date(now);
  from.setSeconds(0, 0);
  const to = new Date(startOfDay(now, when === "week" ? 7 : 1) - 1);
  return { from: from.toISOString(), to: to.toISOString() };
}

/** The window of a choice without what is over. */
export const comingWindowOf = (when, now = new Date()) => ({ from: now.toISOString(), to: windowOf(when, now).to });

/** Whether an event is on in the window of a choice. */
export function isWithin(event, when, now = new Date()) {
  const { start, over } = times(event);
  return when === "any" || (over >= now && start <= new Date(windowOf(when, now).to));
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
