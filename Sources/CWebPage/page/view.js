// What is in view: loads it, follows its changes, and cancels a load when the next one begins.
import * as api from "./api.js";
import { Changes } from "./changes.js";
import { box } from "./place.js";
import { currentUser } from "./session.js";
import { windowOf } from "./time.js";

/** More events than this are shown as clusters. It is the API's limit of a list. */
const eventLimit = 1000;
/** Below this zoom a view shows a country or more: clusters tell more than markers, unless there are few events. */
const overviewZoom = 6;
const overviewLimit = 300;
/** The pause before clusters are counted again because something changed. */
const pauseMilliseconds = 1500;
const repeatMilliseconds = 3000;

export class View {
  #loading = null;
  #timer = null;
  #changes;
  #shown = { kind: "none" };
  #where = null;
  #handlers;

  /** @param handlers { shown(content), put(event), gone(id), refused(), busy(isBusy), state(name) } */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#changes = new Changes({
      put: (event) => this.#put(event),
      gone: (id) => this.#gone(id),
      reset: () => this.#loadSoon(),
      live: () => handlers.state("live"),
      lost: () => handlers.state("reconnecting"),
    });
    window.addEventListener("online", () => this.reload());
    window.addEventListener("offline", () => handlers.state("offline"));
  }

  /** Loads the events of a part of the map, and then follows them. */
  load({ bounds, zoom, when, mine }) {
    this.#where = { bounds, zoom, when, mine };
    return this.reload();
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
      const content = await this.#content(loading.signal);
      if (loading.signal.aborted) return;
      this.#shown = content;
      this.#handlers.shown(content);
      if (content.kind === "mine") this.#handlers.state("live");
      this.#follow(content);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof api.APIError)) throw error;
      if (error.status === 401) return this.#handlers.refused();
      this.#handlers.state(error.isOffline ? "reconnecting" : "failed", error.message);
      // What was shown stays.
      if (error.isOffline) this.#timer = setTimeout(() => this.reload(), repeatMilliseconds);
    } finally {
      if (this.#loading === loading) this.#handlers.busy(false);
    }
  }

  /** The events, or the clusters where there are too many events. */
  async #content(signal) {
    const { bounds, zoom, when, mine } = this.#where;
    if (mine) return { kind: "mine", ...(currentUser() === null ? { events: [] } : await api.myEvents(signal)) };
    const [area, window] = [box(bounds), windowOf(when)];
    const list = async () => ({ kind: "events", area, window, ...(await api.inBox(area, window, eventLimit, signal)) });
    const count = async () => {
      const found = await api.clusters(area, window, Math.round(zoom), signal);
      return { kind: "clusters", area, window, total: found.clusters.reduce((sum, one) => sum + one.count, 0), ...found };
    };
    if (zoom < overviewZoom) {
      const counted = await count();
      return counted.total > overviewLimit ? counted : await list();
    }
    const listed = await list();
    return listed.more ? await count() : listed;
  }

  #follow({ kind, area, window, position }) {
    if (kind === "mine") this.#changes.stop();
    else this.#changes.follow(area, window, position);
  }

  #put(event) {
    if (this.#shown.kind !== "events") return this.#loadSoon();
    const others = this.#shown.events.filter(({ id }) => id !== event.id);
    this.#shown.events = [...others, event];
    if (this.#shown.events.length > eventLimit) return this.#loadSoon();
    this.#handlers.put(event, this.#shown);
  }

  #gone(id) {
    if (this.#shown.kind !== "events") return this.#loadSoon();
    this.#shown.events = this.#shown.events.filter((event) => event.id !== id);
    this.#handlers.gone(id, this.#shown);
  }

  /** Not at every change: a busy world changes all the time. */
  #loadSoon() {
    this.#timer ??= setTimeout(() => this.reload(), pauseMilliseconds);
  }
}
