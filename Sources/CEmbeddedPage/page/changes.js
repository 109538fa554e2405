// Follows the changes of what a list shows: GET /v1/events/changes, server-sent events.
import { query } from "./api.js";

const longestPauseSeconds = 30;
/** The pause between two looks at whether the server is there, and the time that it has to answer. */
const checkSeconds = 15;
const answerSeconds = 10;

/** One stream of changes after the other, each from where the last one ended. */
export class Changes {
  #source = null;
  #timer = null;
  #path = null;
  #position = null;
  #failures = 0;
  #handlers;

  /** @param handlers { put(event), gone(id), reset(), live(), lost(), refused() } */
  constructor(handlers) {
    this.#handlers = handlers;
    window.addEventListener("online", () => this.#openAgain());
    setInterval(() => this.#check(), checkSeconds * 1000);
    // A browser opens six connections to an HTTP/1.1 server: hidden tabs must not hold them.
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#close() : this.#openAgain()));
  }

  /** Follows what a filter shows of a box, from the position of a list on; from now on without one. */
  follow(box, filter, position) {
    this.#path = `/v1/events/changes?${query({ bbox: box, ...filter })}`;
    this.#position = position;
    this.#open();
  }

  stop() {
    this.#path = null;
    this.#close();
  }

  /** A connection that died without a word looks open for ever, and scripts do not hear the server's heartbeats. */
  async #check() {
    const source = this.#source;
    if (source?.readyState !== EventSource.OPEN) return;
    try {
      await fetch(location.pathname, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(answerSeconds * 1000) });
    } catch {
      if (source !== this.#source) return;
      this.#handlers.lost();
      this.#open();
    }
  }

  #openAgain() {
    if (this.#path !== null && this.#source?.readyState !== EventSource.OPEN) this.#open();
  }

  #close() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #open() {
    this.#close();
    if (document.hidden) return;
    const source = new EventSource(this.#path + (this.#position === null ? "" : `&since=${this.#position}`));
    this.#source = source;
    // An event without data, a heartbeat, is not heard here: the browser keeps its id for its own reconnection.
    const heard = ({ lastEventId }) => {
      this.#position = lastEventId || this.#position;
    };
    source.onopen = () => {
      this.#failures = 0;
      this.#handlers.live();
    };
    source.addEventListener("put", (message) => {
      heard(message);
      this.#handlers.put(JSON.parse(message.data));
    });
    source.addEventListener("gone", (message) => {
      heard(message);
      this.#handlers.gone(JSON.parse(message.data).id);
    });
    source.addEventListener("reset", () => {
      this.#close();
      this.#handlers.reset();
    });
    source.onerror = () => {
      // The browser connects again by itself, unless the server answered with an error.
      if (source.readyState !== EventSource.CLOSED) return this.#handlers.lost();
      this.#failures += 1;
      const pauseSeconds = Math.min(longestPauseSeconds, 2 ** this.#failures) * (0.5 + Math.random() / 2);
      clearTimeout(this.#timer);
      // The list without a stream: the server may not have streams now.
      this.#timer = setTimeout(() => this.#handlers.reset(), pauseSeconds * 1000);
      this.#handlers.refused();
    };
  }
}
