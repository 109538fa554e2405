// What is in view: loads it, follows its changes, and cancels a load when the next one begins.
import * as api from "./api.js";
import { Changes } from "./changes.js";
import { joined } from "./clusters.js";
import { box, boxAround } from "./place.js";
import { currentUser } from "./session.js";
import { keyOf, queryOf, shown } from "./filter.js";
import { groupOf, isIn, windowOf } from "./time.js";

/** More events than this are shown as clusters. */
const eventLimit = api.pageLimit;
/** The pages that are read at once of a list that may have more events than that. */
const pagesAtOnce = 5;
/** Below this zoom the events of a city lie on top of each other: clusters tell more, unless there are few events. */
const overviewZoom = 9;
const overviewLimit = 60;
/** The pause before clusters are counted again because something changed. */
const pauseMilliseconds = 1500;

export class View {
  #loading = null;
  #timer = null;
  #changes;
  #shown = { kind: "none", events: [], key: null, isElsewhere: false };
  #where = null;
  #failures = 0;
  #pages = pagesAtOnce;
  /** The time of the last load or tick. */
  #time = new Date();
  #handlers;

  /**
   * @param handlers { shown(content), put(event, content, isNew), gone(id, content), changed(id), unknown(content), refused(),
   *   busy(isBusy), state(name, text) }: changed comes for every event of the stream, shown or counted
   */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#changes = new Changes({
      put: (event) => {
        this.#put(event);
        handlers.changed(event.id);
      },
      gone: (id) => {
        this.#gone(id);
        handlers.changed(id);
      },
      reset: () => this.#loadSoon(),
      live: () => handlers.state("live"),
      lost: () => handlers.state(navigator.onLine ? "reconnecting" : "offline"),
      refused: () => handlers.state("delayed"),
    });
    // Both are hints: a server of this machine, or of a plane, answers without a network. Only a request tells.
    for (const hint of ["online", "offline"]) window.addEventListener(hint, () => this.reload());
  }

  /** Loads the events of a part of the map, and then follows them. @param listed the box of a cluster to list beside the others, or null */
  load({ bounds, zoom, filter, mine, listed }) {
    // One's own events are the same everywhere.
    const key = `${mine ? "mine" : box(bounds)} ${keyOf(filter)}`;
    const isSame = this.#where?.key === key && this.#where.listed === listed;
    if (!isSame) this.#pages = pagesAtOnce;
    this.#where = { bounds, zoom, filter, mine, listed, key };
    if (mine && isSame && this.#shown.kind === "mine") return;
    return this.reload();
  }

  /** Reads further pages of a list. */
  more() {
    this.#pages += pagesAtOnce;
    return this.reload();
  }

  /** What is shown: { kind, events or clusters, isElsewhere, … }, elsewhere if what is in view could not be loaded. */
  get content() { return this.#shown; }

  /** An event that was loaded, for visitors without a network. */
  event(id) {
    const { events, place } = this.#shown;
    return (place?.events ?? events)?.find((event) => event.id === id) ?? null;
  }

  /** The clock went on: events move to other groups and out of the window, and at midnight the window ends. */
  tick() {
    const { kind, place, filter, query } = this.#shown;
    if (kind === "none") return;
    if (windowOf(filter.when).to !== query.to) return this.reload();
    const list = kind === "clusters" ? place : this.#shown;
    if (list === null) return;
    const [before, now] = [this.#time, new Date()];
    this.#time = now;
    const kept = list.events.filter(isIn(filter.when, now));
    const isSame = kept.length === list.events.length && kept.every((event) => groupOf(event, before) === groupOf(event, now));
    if (isSame) return;
    if (list === place) place.total -= place.events.length - kept.length;
    list.events = kept;
    this.#handlers.shown(this.#shown);
  }

  async reload() {
    if (this.#where === null) return;
    this.#loading?.abort();
    clearTimeout(this.#timer);
    this.#timer = null;
    const loading = new AbortController();
    this.#loading = loading;
    this.#handlers.busy(true);
    try {
      const { key } = this.#where;
      const content = { ...(await this.#content(loading.signal)), key, isElsewhere: false };
      if (loading.signal.aborted) return;
      this.#failures = 0;
      this.#shown = content;
      this.#time = new Date();
      this.#handlers.shown(content);
      this.#follow(content);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof api.APIError)) throw error;
      if (error.status === 401) return this.#handlers.refused();
      const isOffline = error.status === 0 && !navigator.onLine;
      this.#handlers.state(isOffline ? "offline" : error.isOffline ? "reconnecting" : "failed", error.message);
      // What was shown stays. It may be of another part of the map.
      const isElsewhere = this.#shown.key !== this.#where.key;
      if (isElsewhere !== this.#shown.isElsewhere) this.#handlers.unknown(Object.assign(this.#shown, { isElsewhere }));
      if (!error.isTemporary) return;
      this.#failures += 1;
      this.#timer = setTimeout(() => this.reload(), api.pauseMilliseconds(error, this.#failures));
    } finally {
      if (this.#loading === loading) this.#handlers.busy(false);
    }
  }

  /** The events, or the clusters where there are too many events. */
  async #content(signal) {
    const { bounds, zoom, filter, mine, listed } = this.#where;
    if (mine) return this.#mine(filter, signal);
    const area = box(bounds);
    const query = queryOf(filter);
    const list = async () => {
      const { events, ...rest } = await api.inBox(area, query, eventLimit, signal);
      return { kind: "events", area, filter, query, events: events.filter(isIn(filter.when)), ...rest };
    };
    const count = async () => {
      const { clusters, position } = await api.clusters(area, query, Math.round(zoom), signal);
      const total = clusters.reduce((sum, { count }) => sum + count, 0);
      const place = listed === null ? null : await api.place(listed, query, Math.round(zoom), this.#pages, signal);
      return { kind: "clusters", area, filter, query, total, clusters: joined(clusters, zoom), place, position };
    };
    if (zoom < overviewZoom) {
      const counted = await count();
      return counted.total > overviewLimit ? counted : await list();
    }
    const shown = await list();
    return shown.next === null ? shown : await count();
  }

  async #mine(filter, signal) {
    const query = windowOf(filter.when);
    if (currentUser() === null) return { kind: "mine", filter, query, area: null, events: [] };
    const { events, ...rest } = await api.mine(this.#pages, signal);
    return { kind: "mine", filter, query, area: boxAround(events), events: shown(events, filter), ids: new Set(events.map(({ id }) => id)), ...rest };
  }

  #follow({ area, kind, query, position }) {
    if (area !== null) return this.#changes.follow(area, kind === "mine" ? {} : query, position);
    this.#changes.stop();
    this.#handlers.state("live");
  }

  #put(event) {
    const { kind, events, filter, ids } = this.#shown;
    if (kind === "clusters" || kind === "none") return this.#loadSoon();
    const isMember = kind === "events" || ids.has(event.id) || event.owner.id === currentUser();
    if (!isMember) return;
    const others = events.filter(({ id }) => id !== event.id);
    // The API has looked for the words of others' events.
    if (kind === "mine" ? shown([event], filter).length === 0 : !isIn(filter.when)(event)) return this.#gone(event.id);
    this.#shown.events = [...others, event];
    const limit = kind === "mine" ? Infinity : this.#where.zoom < overviewZoom ? overviewLimit : eventLimit;
    if (this.#shown.events.length > limit) return this.#loadSoon();
    this.#handlers.put(event, this.#shown, others.length === events.length);
  }

  #gone(id) {
    const { kind, events, ids } = this.#shown;
    if (kind === "clusters" || kind === "none") return this.#loadSoon();
    // One's own event may be elsewhere now.
    if (kind === "mine" && ids.has(id)) this.#loadSoon();
    if (!events.some((event) => event.id === id)) return;
    this.#shown.events = events.filter((event) => event.id !== id);
    this.#handlers.gone(id, this.#shown);
  }

  /** Not at every change: a busy world changes all the time. Each page of a listed place takes a request more, and a pause more. */
  #loadSoon() {
    const pages = Math.ceil((this.#shown.place?.events.length ?? 0) / api.pageLimit);
    this.#timer ??= setTimeout(() => this.reload(), pauseMilliseconds * (1 + pages));
  }
}
