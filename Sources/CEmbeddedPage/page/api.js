// Requests to the API. Every function resolves to the parsed body, or throws an APIError.
import { has, isEnglish, text } from "./texts.js";

/** The server refused a request (status from 400), or no answer came (status 0). */
export class APIError extends Error {
  constructor(status, problem = {}, pauseSeconds = 0) {
    super(APIError.text(status, problem));
    this.status = status;
    /** The pause that the server asks for. */
    this.pauseSeconds = pauseSeconds;
    /** A sentence for each field: { name: "Name can't be blank" }. One that is about none has the name "". */
    this.fields = APIError.fields(problem);
    /** The event that the request would have read, if it is cancelled. */
    this.event = problem.event ?? null;
  }

  get isOffline() {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }

  /** Whether the same request may succeed later. */
  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** A detail says more than its code. The API's are in English; the page's own ones come without a code. */
  static text(status, { code, detail, message, title }) {
    if (status === 0) return text("error.offline");
    if (has(`error.status.${status}`)) return text(`error.status.${status}`);
    if (detail !== undefined && (isEnglish || code === undefined)) return detail;
    if (has(`error.code.${code}`)) return text(`error.code.${code}`);
    return (isEnglish ? message ?? title : null) ?? text("error.status", { status });
  }

  /** RFC 9457 names a field by a JSON pointer. */
  static fields({ errors = [] }) {
    const fields = {};
    for (const { pointer, code, detail } of errors) {
      const name = (pointer ?? "").replace(/^[#/]+/, "");
      fields[name] ??= APIError.fieldText(name, code, detail);
    }
    return fields;
  }

  /** The page's sentence about a field, with the numbers of the API's sentence; that one where the page has none for the code. */
  static fieldText(name, code, detail) {
    const subject = `form.${name}.subject`;
    const key = [`error.${name || "form"}.${code}`, has(subject) && `error.field.${code}`].find(has);
    if (key === undefined) return detail;
    const [first, second] = detail?.match(/-?\d+/g) ?? [];
    return text(key, { field: text(subject), first, second });
  }
}

/** A request without an answer ends after this time. */
const limitSeconds = 30;

/** The position of the last own write, such as "12.kbnapcmd": a read after it must show it. The letters name the history of the log. */
let written = null;

const reads = Promise.withResolvers();
/** Resolves to whether everybody may read events, and so open their pages. The server tells by who may keep its answers. */
export const isPublic = reads.promise;

const number = (position) => parseInt(position ?? "0", 10);

/**
 * Sends a request.
 * @returns {Promise<{data: any, position: string?, tag: string?, next: string?, location: string?}>} position: that of the log which the
 * answer shows; next: the path of the next page
 */
export async function request(method, path, { body, signal, headers = {} } = {}) {
  const fields = { accept: "application/json, application/problem+json", ...headers };
  if (body !== undefined) fields["content-type"] ??= "application/json";
  if (method === "GET" && written !== null) fields["humon-position"] ??= written;
  const limit = AbortSignal.timeout(limitSeconds * 1000);
  const before = written;
  let response, content;
  try {
    response = await fetch(path, {
      method, signal: signal ? AbortSignal.any([signal, limit]) : limit, headers: fields,
      body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin",
    });
    content = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new APIError(0);
  }
  const data = content.startsWith("{") || content.startsWith("[") ? JSON.parse(content) : null;
  const position = response.headers.get("humon-position");
  // The log may have lost the write.
  if (data?.code === "position_not_reached") written = null;
  if (!response.ok) throw new APIError(response.status, data ?? {}, Number(response.headers.get("retry-after")) || 0);
  // A write that began after the last one is newer, also if the log lost its end and has a lower position now.
  if (method !== "GET" && position && (before === written || number(position) > number(written))) written = position;
  const { headers: sent } = response;
  const [access] = sent.get("cache-control")?.match(/^(public|private)/) ?? [];
  if (access !== undefined) reads.resolve(access === "public");
  // A proxy that compresses answers makes the tag weak, and a weak one matches nothing.
  const tag = sent.get("etag")?.replace(/^W\//, "") ?? null;
  return { data, position, tag, next: nextOf(sent.get("link")), location: sent.get("location") };
}

const nextOf = (link) => link?.match(/<([^>]*)>; *rel="?next/)?.[1] ?? null;

const shortestPauseSeconds = 3;
const longestPauseSeconds = 60;

/** The pause before a read is tried again that failed this many times, in milliseconds. A server that does not answer costs nothing. */
export const pauseMilliseconds = (error, failures) =>
  1000 * Math.min(longestPauseSeconds, Math.max(error.pauseSeconds, shortestPauseSeconds * (error.status === 0 ? 1 : 2 ** (failures - 1))));

/** Fields as the query of a URL, without those that have no value. */
export const query = (fields) =>
  new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)).toString();

/** A list without events is an object with a message in v1. */
const events = ({ data, ...rest }) => ({ events: Array.isArray(data) ? data : [], ...rest });

/** The box of everything. */
export const world = "-180,-90,180,90";

export const inBox = async (box, filter, limit, signal) =>
  events(await request("GET", `/v1/events?${query({ bbox: box, ...filter, limit })}`, { signal }));

/** The API's limit of a page. */
export const pageLimit = 1000;

/** Reads at most this many pages of a list. more: whether there are others */
async function inPages(path, pages, options) {
  const events = [];
  let next = path;
  for (let read = 0; read < pages && next !== null; read += 1) {
    const answer = await request("GET", next, options);
    events.push(...answer.data);
    next = answer.next;
  }
  return { events, more: next !== null };
}

/** The events of a box, which may be more than a map can show, and their number. */
export async function place(box, filter, zoom, pages, signal) {
  const found = await inPages(`/v1/events?${query({ bbox: box, ...filter, limit: pageLimit })}`, pages, { signal });
  const counted = found.more ? (await clusters(box, filter, zoom, signal)).clusters : [];
  return { ...found, total: found.more ? counted.reduce((sum, { count }) => sum + count, 0) : found.events.length };
}

const widestKilometres = 50_000;

/** The events around a place, the nearest first. */
export const nearest = async ({ lat, lon }, filter, limit, signal) =>
  events(await request("GET", `/v1/events/nearests?${query({ lat, lon, radius: widestKilometres, ...filter, limit })}`, { signal })).events;

export async function clusters(box, filter, zoom, signal) {
  const { data, position } = await request("GET", `/v1/events/clusters?${query({ bbox: box, zoom, ...filter })}`, { signal });
  return { clusters: Array.isArray(data) ? data : [], position };
}

export const event = (id, signal) => request("GET", `/v1/events/${id}`, { signal });

/** The caller's own events and those that the caller attends, each once. The lists show the position or a later one. */
export async function mine(pages, signal) {
  const { position } = await clusters(world, {}, 0, signal);
  const headers = position === null ? {} : { "humon-position": position };
  const lists = await Promise.all(
    ["attendances", "events"].map((name) => inPages(`/v1/users/me/${name}?limit=${pageLimit}`, pages, { signal, headers })));
  const members = new Map(lists.flatMap(({ events }) => events).map((event) => [event.id, event]));
  return { events: [...members.values()], position, more: lists.some(({ more }) => more) };
}

export const attendance = async (id, signal) => (await request("GET", `/v1/events/${id}/attendance`, { signal })).data;

// Writes. A key that stays the same in a repetition makes it one write.

export const create = async (event, key) =>
  (await request("POST", "/v1/events", { body: event, headers: { "idempotency-key": key } })).data.id;
/** @param changes the fields that change: the others stay, and null clears one (RFC 7396) */
export const update = (id, changes, tag, key) => request("PATCH", `/v1/events/${id}`, {
  body: changes, headers: { "content-type": "application/merge-patch+json", "idempotency-key": key, "if-match": tag },
});
export const cancel = (id) => request("DELETE", `/v1/events/${id}`);
export const attend = (id) => request("PUT", `/v1/events/${id}/attendance`);
export const leave = (id) => request("DELETE", `/v1/events/${id}/attendance`);

/** A random key. `crypto.randomUUID` is missing on plain HTTP. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
