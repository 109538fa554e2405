// Times in the viewer's zone and language.

const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const sameDay = (one, other) => one.toDateString() === other.toDateString();

/** "Sat, 27 Nov 2026, 20:00 – 23:00" */
export function shortSpan(startedAt, endedAt) {
  const start = new Date(startedAt);
  const begin = `${day.format(start)}, ${clock.format(start)}`;
  if (!endedAt) return begin;
  const end = new Date(endedAt);
  return sameDay(start, end) ? `${begin} – ${clock.format(end)}` : `${begin} – ${day.format(end)}, ${clock.format(end)}`;
}

/** "Saturday, 27 November 2026 at 20:00" */
export const longTime = (text) => whole.format(new Date(text));

/** The value of an input of type datetime-local. */
export function inputValue(text) {
  if (!text) return "";
  const date = new Date(text);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The time of such a value for the API; null for an empty one. */
export function fromInput(value) {
  const date = new Date(value);
  return value === "" || Number.isNaN(date.getTime()) ? null : date.toISOString();
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
  const to = new Date(now);
  to.setDate(to.getDate() + (when === "week" ? 6 : 0));
  to.setHours(23, 59, 59, 999);
  return { from: from.toISOString(), to: to.toISOString() };
}
