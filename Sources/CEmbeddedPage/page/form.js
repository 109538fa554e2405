// The form that adds an event and changes one. The API checks the fields; the form shows its errors beside them.
import * as api from "./api.js";
import { announce, byID, confirmed, element } from "./dom.js";
import { streetZoom } from "./map.js";
import { coordinates, degrees, kinds, nearestZone } from "./place.js";
import { signedIn, storage } from "./session.js";
import { text } from "./texts.js";
import {
  bothTimes, clocksDiffer, fromInput, inputValue, knownZone, longSpan, nextHour, offsetOf, timeDoubts, timeErrors, zone,
} from "./time.js";

/** The names of zones that the browser knows. */
const zones = [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])];

/** The most characters of a description, and how many are left when the form begins to say so. */
const descriptionLimit = 4000;
const countedFrom = 500;
/** The pause in typing before a screen reader hears how many are left. */
const countMilliseconds = 1000;

/** The fields of an event that its owner decides, in the order of the form. */
const fields = [
  { name: "name", type: "text", required: true, autocomplete: "off" },
  { name: "address", type: "text", autocomplete: "off" },
  { name: "started_at", type: "datetime-local", required: true },
  { name: "ended_at", type: "datetime-local" },
  { name: "time_zone", required: true, choices: zones, dir: "ltr" },
  { name: "category", choices: ["", ...kinds] },
  { name: "description", rows: 4 },
  { name: "link", type: "url", autocomplete: "off", dir: "ltr" },
  { name: "lat", type: "text", autocomplete: "off", dir: "ltr", required: true, isPlace: true },
  { name: "lon", type: "text", autocomplete: "off", dir: "ltr", required: true, isPlace: true },
];

/** What two windows change together or not at all. */
const parts = [...fields.filter(({ isPlace }) => !isPlace).map(({ name }) => [name]), ["lat", "lon"]];

const isTime = (name) => name.endsWith("_at");
const timeNames = fields.map(({ name }) => name).filter(isTime);

/** The text of a field for an event, with times in a zone. */
const textIn = (event, name, zone) => (isTime(name) ? inputValue(event[name], zone) : String(event[name] ?? ""));

/** What the visitor typed as an address of the web, with its host in ASCII: "bücher.example" is "https://xn--bcher-kva.example/". */
function webAddress(written) {
  // Behind the name of a host without a scheme can be a port.
  const address = /^[a-z][a-z\d+-]*:(?!\d)/i.test(written) ? written : `https://${written}`;
  if (written === "" || !/^https?:/i.test(address) || !URL.canParse(address)) return written;
  // What `URL` leaves to the server, and RFC 3986 does not know.
  return new URL(address).href.replace(/[\\^`{|}]|%(?![\da-f]{2})/gi, encodeURIComponent);
}

const inMinutes = (time) => Math.floor(Date.parse(time) / 60_000);

/** What another window made of a part of an event, with times in a zone. */
function inWords(event, [name, ...rest], zone) {
  if (rest.length > 0) return text("form.other.value", { value: `${event.lat}, ${event.lon}` });
  if ((event[name] ?? null) === null) return text("form.other.empty");
  if (isTime(name)) return text("form.other.value", { value: longSpan({ started_at: event[name] }, zone) });
  return text("form.other.text", { value: event[name] });
}

/** The name of the choice between two times of a field, when the clock goes back. */
const turnOf = (name) => `${name}-turn`;

/** Under this name the browser's tab keeps what is typed. */
const keptName = "form";
const ofTab = storage("sessionStorage");

const tooLong = (count) => text("form.description.over", { count });

/** Refuses fields before the API does. @param errors a sentence for each field */
function refuse(errors) {
  if (Object.keys(errors).length > 0) throw Object.assign(new api.APIError(422), { fields: errors });
}

/**
 * @param event the event to change; { lat, lon } of a new one, or {} while no place is chosen
 * @param tag the version that the visitor saw; null for a new event
 * @param handlers { saved(id, event, isNew), close(), moved(lat, lon, zoom), zones }: the last is a promise of the places of zones
 * @param draft what `kept` returned, from before a reload
 */
export class EventForm {
  #form;
  #event;
  /** The zone of the times in the form, and whether the visitor chose it. */
  #zone;
  #isZoneChosen;
  /** The places of zones. A time is not sent before they tell its zone. */
  #places = [];
  #loading;
  /** The timer before a screen reader hears how many characters are left. */
  #counting = null;
  /** The texts of the fields before the visitor's first input. */
  #texts;
  #tag;
  #hasInput = false;
  /** What the sentences about fields depend on, by the names of the fields. */
  #faults = new Map();
  /** Whether the event was cancelled elsewhere, hidden or erased. */
  #isEnded = false;
  /** Why the form says what it says: "offline", "fields", "place", or null. */
  #cause = null;
  /** The times that are right, as the visitor said. */
  #sureTimes = null;
  /** One intent, one key: a repetition after a lost answer is the same write. */
  #key = api.newKey();
  #handlers;

  constructor(event, tag, handlers, draft = null) {
    this.#event = { ...event, started_at: event.started_at ?? nextHour() };
    this.#tag = tag;
    this.#handlers = handlers;
    this.#isZoneChosen = draft?.isZoneChosen ?? false;
    const isNew = event.id === undefined;
    this.#form = element(
      "form", { novalidate: true, "aria-labelledby": "form-title", onsubmit: (submission) => this.#submit(submission) },
      element("button", { type: "button", class: "back", onclick: handlers.close }, text("form.back")),
      element("h2", { id: "form-title", tabindex: "-1" }, text(isNew ? "form.title.add" : "form.title.change")),
      element("p", { class: "problem", role: "alert" }),
      ...fields.filter(({ isPlace }) => !isPlace).map((field) => this.#row(field)),
      element(
        "fieldset", { class: "place" },
        element("legend", {}, text("form.place")),
        element("p", { class: "hint" }, text(event.lat === undefined ? "form.place.far" : "form.place.close")),
        ...fields.filter(({ isPlace }) => isPlace).map((field) => this.#row(field)),
        navigator.geolocation && element("button", { type: "button", onclick: () => this.#here() }, text("form.place.here"))),
      element(
        "div", { class: "buttons" },
        element("button", { type: "submit", class: "primary" }, text(isNew ? "form.submit.add" : "form.submit.change"))));
    this.#form.addEventListener("input", ({ target }) => {
      if (target.type === "datetime-local") this.#showTurns(target);
      this.#isZoneChosen ||= target.name === "time_zone";
      if (/zone|_at/.test(target.name)) this.#chooseZone();
      if (target.name === "description") this.#count();
      this.#keep();
    });
    // Pasted between the digits of a field, a pair would be none any more.
    this.#form.addEventListener("paste", (paste) => {
      if (this.#spread(paste.target, paste.clipboardData.getData("text"))) paste.preventDefault();
    });
    this.#form.addEventListener("change", ({ target }) => {
      if (target.name === "link") {
        target.value = webAddress(target.value.trim());
        this.#keep();
      }
      if (target.name !== "lat" && target.name !== "lon") return;
      this.#spread(target);
      this.#tellPlace();
    });
    // A browser tells by no event of its own that a part of a time came or went.
    this.#form.addEventListener("keyup", () => { if (this.hasInput) this.#keep(); });
    for (const name of ["input", "change", "keyup", "focusout"]) this.#form.addEventListener(name, () => this.#forgetMended());
    byID("form-view").replaceChildren(this.#form);
    this.#showZone(draft?.zone ?? this.#event.time_zone ?? zone());
    for (const { name } of fields.filter(({ name }) => name !== "time_zone")) this.#show(name, this.#event);
    this.#texts = { ...this.#read(), time_zone: textIn(this.#event, "time_zone") };
    if (draft !== null) this.#restore(draft);
    this.#count();
    this.showBothTimes();
    this.#loading = handlers.zones.then((zones) => {
      this.#places = zones;
      if (this.#form.isConnected) this.#chooseZone();
    });
  }

  /** Shows what the visitor had written before a reload. */
  #restore(draft) {
    for (const [name, written] of Object.entries(draft.values)) {
      const input = this.#form.elements[name];
      if (written !== null) input.value = written;
      if (input.type === "datetime-local") this.#showTurns(input);
    }
    for (const name of Object.keys(draft.values).filter((name) => draft.values[name] === null)) {
      this.#mark(name, text("form.time.lost"));
      // The time that is here now is right.
      this.#form.elements[name].removeAttribute("aria-invalid");
    }
    this.#keep();
  }

  /** Shows what an event has in a field. */
  #show(name, event) {
    const input = this.#form.elements[name];
    input.value = textIn(event, name, this.#zone);
    if (isTime(name)) this.#showTurns(input, event[name]);
  }

  /** Asks which one is meant of a time that comes twice, and says so if it never comes. @param time what is meant at first */
  #showTurns({ name, value }, time = null) {
    const times = fromInput(value, this.#zone);
    const turns = this.#form.elements[turnOf(name)];
    const clock = value.slice(11, 16);
    const index = time ? times.findLastIndex((turn) => turn <= new Date(time).toISOString()) : turns.value;
    turns.replaceChildren(...["first", "second"].slice(0, times.length).map((turn, index) =>
      element("option", { value: index }, text(`form.turn.${turn}`, { clock, offset: offsetOf(times[index], this.#zone) }))));
    turns.value = index;
    if (turns.selectedIndex < 0) turns.value = 0;
    turns.hidden = times.length < 2;
    const meant = inputValue(times[0], this.#zone);
    byID(`hint-${name}`).textContent =
      times.length > 0 && meant !== value.slice(0, 16) ? text("form.turn.never", { clock, time: meant.slice(-5) })
        : times.length > 1 ? text("form.turn.twice", { clock }) : "";
  }

  /** What the form of this event had before the page was loaded again: { event, tag, zone, isZoneChosen, values }; null without a text. */
  static kept(id) {
    const kept = ofTab.get(keptName);
    return kept !== null && (kept.event.id ?? null) === id ? kept : null;
  }

  /** The text is saved or given up. */
  static forget() { ofTab.set(keptName, null); }

  /** Keeps what the visitor changed: in another zone the other times have other texts. Half a time has none, and null tells of it. */
  #keep() {
    this.#hasInput = true;
    const texts = this.#read();
    const values = fields.filter(({ name }) => this.#isChanged(name, texts)).map(({ name }) => (
      this.#isHalf(name) ? { [name]: null } : { [name]: texts[name], [turnOf(name)]: texts[turnOf(name)] }));
    const [event, tag, zone, isZoneChosen] = [this.#event, this.#tag, this.#zone, this.#isZoneChosen];
    ofTab.set(keptName, { event, tag, zone, isZoneChosen, values: Object.assign({}, ...values) });
  }

  #read() { return Object.fromEntries(new FormData(this.#form)); }

  /** The connection is back. */
  connected() { if (this.#cause === "offline") this.#say(""); }

  focus() { byID("form-title").focus(); }

  /** The event is not there any more. What is said about that stays. */
  end({ status }) {
    this.#say(text(status === 410 ? "form.problem.cancelled" : "form.problem.removed"));
    this.#isEnded = true;
    this.#form.querySelector("[type=submit]").ariaDisabled = "true";
  }

  /** The zone goes into its field, and below it for screen readers, which hear of one that came by itself. */
  #showZone(name) {
    const select = this.#form.elements.time_zone;
    this.#zone = name;
    if (![...select.options].some(({ value }) => value === name)) select.append(element("option", {}, name));
    select.value = name;
    byID("hint-time_zone").textContent = text("form.zone", { zone: knownZone(name) });
  }

  /** The zone of the place, unless another one that is at hand has the same clock there and then: the event's or the visitor's. */
  #zoneOfPlace() {
    const { time_zone: own, started_at: before } = this.#event;
    const place = nearestZone(this.#places, this.chosen);
    // A start of which a part is missing tells nothing.
    if (place === null || this.#isHalf("started_at")) return this.#zone;
    if (own && place === nearestZone(this.#places, this.#event)) return own;
    const time = this.#isChanged("started_at") ? fromInput(this.#form.elements.started_at.value, place)[0] : before;
    // The year 20 is what a visitor has typed of 2037: clocks were local then.
    const then = Math.max(0, Date.parse(time ?? nextHour()));
    return [own, zone()].find((name) => name && !clocksDiffer(then, name, place)) ?? place;
  }

  #chooseZone() { this.#useZone(this.#isZoneChosen ? this.#form.elements.time_zone.value : this.#zoneOfPlace()); }

  /** Puts the times into a zone. What the visitor typed stays as it is, and the moments of other times stay. */
  #useZone(name) {
    if (name !== this.#zone) {
      this.#showZone(name);
      for (const time of timeNames) {
        if (!this.#isChanged(time)) {
          this.#reset(time);
          continue;
        }
        this.#showTurns(this.#form.elements[time]);
        // What was typed is a change where it differs from the event's time in the new zone.
        if (this.#texts[time] !== null) Object.assign(this.#texts, { [time]: textIn(this.#event, time, name), [turnOf(time)]: undefined });
      }
    }
    this.showBothTimes();
  }

  /** Says what the times are for the visitor, who may be elsewhere. */
  showBothTimes() {
    const { started_at, ended_at } = this.#values();
    const both = started_at && bothTimes({ started_at, ended_at, time_zone: this.#zone });
    byID("both-times").textContent = both ? text("event.both", both) : "";
  }

  /** Says how many characters a description has left: at once for the eye, and for the ear after a pause. */
  #count() {
    const left = descriptionLimit - [...this.#form.elements.description.value.trim()].length;
    const sentence = left < 0 ? tooLong(-left) : left <= countedFrom ? text("form.description.left", { count: left }) : "";
    byID("hint-description").textContent = sentence;
    clearTimeout(this.#counting);
    this.#counting = setTimeout(() => { this.#form.querySelector(".hidden").textContent = sentence; }, countMilliseconds);
  }

  /** Whether the visitor typed or chose what would be lost. The browser tells nothing of a text that it cannot read. */
  get hasInput() { return this.#hasInput || Object.keys(this.#unreadable).length > 0; }

  /** What is wrong with texts that are no time and no number, such as a date without a time: { ended_at: "…" }. */
  get #unreadable() {
    const isNumber = (written) => written === "" || degrees(written) !== null;
    const unread = fields.filter(({ name, isPlace }) => this.#isHalf(name) || (isPlace && !isNumber(this.#form.elements[name].value.trim())));
    return Object.fromEntries(unread.map(({ name }) => [name, text(isTime(name) ? "form.time.half" : "form.place.number")]));
  }

  /** The map chose a place. */
  place(lat, lon) {
    this.#form.elements.lat.value = lat;
    this.#form.elements.lon.value = lon;
    this.#chooseZone();
    this.#keep();
    this.#forgetMended();
    if (this.#cause === "place") this.#say("");
    announce(text("map.place", { lat, lon }));
  }

  /** Puts the two numbers of a text, such as one from another map, into their fields. Returns whether there are two. */
  #spread({ name, value }, written = value) {
    const found = name === "lat" || name === "lon" ? coordinates(written.trim()) : null;
    if (found === null) return false;
    this.place(found.lat, found.lon);
    this.#tellPlace();
    return true;
  }

  #row({ name, required, isPlace, choices, ...attributes }) {
    const label = text(`form.${name}.label`);
    const hints = this.#hints(name, label);
    const options = choices?.map((value) => element("option", { value }, value && name === "category" ? text(`kind.${value}`) : value));
    const input = element(choices ? "select" : attributes.rows ? "textarea" : "input", {
      id: `field-${name}`, name, "aria-required": required && "true",
      "aria-describedby": [...hints.map(({ id }) => id), `error-${name}`].filter(Boolean).join(" "), ...attributes,
    }, ...(options ?? []));
    return element(
      "p", { class: `field ${name}` },
      element("label", { for: `field-${name}` }, label, required ? "" : element("small", {}, " ", text("form.optional"))), input,
      ...hints, element("span", { class: "error", id: `error-${name}` }));
  }

  /** What the form says below a field, and the choice between two times. */
  #hints(name, label) {
    const hint = (attributes) => element("span", { class: "hint", id: `hint-${name}`, ...attributes });
    if (isTime(name)) return [
      hint({ role: "status" }),
      element("select", { name: turnOf(name), "aria-label": text("form.turn.label", { label }), hidden: true }),
    ];
    if (name === "time_zone") return [hint({ role: "status" }), hint({ id: "both-times" })];
    return name === "description" ? [hint(), element("span", { class: "hidden", role: "status" })] : [];
  }

  #here() {
    // The visitor may have left the form before the browser answers.
    const here = (use) => (answer) => { if (this.#form.checkVisibility()) use(answer); };
    navigator.geolocation.getCurrentPosition(
      here(({ coords }) => {
        this.place(Number(coords.latitude.toFixed(6)), Number(coords.longitude.toFixed(6)));
        this.#tellPlace(streetZoom);
      }),
      here(() => this.#say(text("form.place.unknown"), "place")));
  }

  /** The place in the fields: { lat, lon }, or {} if there is none yet. */
  get chosen() {
    const { lat, lon } = this.#values();
    return lat === null || lon === null ? {} : { lat, lon };
  }

  #tellPlace(zoom = 0) {
    this.#chooseZone();
    const { lat, lon } = this.chosen;
    if (lat === undefined) return;
    if (this.#cause === "place") this.#say("");
    this.#handlers.moved(lat, lon, zoom);
  }

  /** Whether a time lacks a part: its value is empty then. */
  #isHalf(name) { return this.#form.elements[name].validity.badInput; }

  /** Whether the visitor changed a field. A text may show less than the event has, such as no seconds. */
  #isChanged(name, texts = this.#read()) {
    // The zone of an event without one goes with its times and its place.
    if (name === "time_zone" && this.#texts.time_zone === "" && !this.#isZoneChosen) {
      return [...timeNames, "lat", "lon"].some((name) => this.#isChanged(name, texts));
    }
    return this.#isHalf(name) || [name, turnOf(name)].some((key) => texts[key] !== this.#texts[key]);
  }

  /** Goes on from the version of another window: shows what only that one changed. Returns the parts that both changed. */
  #adopt(event, tag) {
    const before = this.#event;
    this.#event = event;
    this.#tag = tag;
    const values = this.#values();
    // Of two times with one text the turn tells.
    const isTurn = (name) => !event[name] || values[name] === null || inMinutes(values[name]) === inMinutes(event[name]);
    const both = parts.filter((part) => part.some((name) => event[name] !== before[name])).filter((part) => {
      // What the visitor typed as times is meant in the zone of the form.
      const isMine = (part[0] === "time_zone" ? [...part, ...timeNames] : part).some((name) => this.#isChanged(name));
      const isSame = part.every(
        (name) => this.#form.elements[name].value === textIn(event, name, this.#zone) && (!isTime(name) || isTurn(name)));
      if (!isMine || isSame) part.forEach((name) => this.#reset(name));
      // What both changed is sent again, whatever it becomes.
      else for (const name of part) this.#texts[name] = null;
      return isMine && !isSame;
    });
    if (this.#hasInput) this.#keep();
    return both;
  }

  /** Goes back to what the event has in a field. */
  #reset(name) {
    if (name === "time_zone") {
      this.#isZoneChosen = false;
      this.#texts.time_zone = textIn(this.#event, name);
      return this.#useZone(this.#event.time_zone ?? this.#zoneOfPlace());
    }
    this.#show(name, this.#event);
    const texts = this.#read();
    for (const key of [name, turnOf(name)]) this.#texts[key] = texts[key];
    // The pin goes along, once both numbers are there.
    if (name === "lon") this.#tellPlace();
  }

  /** Offers to take what another window made of the parts that the visitor changed, too. */
  #offer(both) {
    for (const part of both) {
      const [first] = part;
      const take = () => {
        for (const name of part) {
          this.#reset(name);
          this.#mark(name, "");
        }
        this.#keep();
        this.#form.elements[first].focus();
      };
      // The other version stays in view while the visitor goes on writing, and neither is wrong.
      this.#faults.delete(first);
      this.#form.elements[first].removeAttribute("aria-invalid");
      byID(`error-${first}`).append(" ", element("button", { type: "button", class: "link", onclick: take }, text("form.other.take")));
    }
  }

  /** The values of the fields, or of those that the visitor changed. */
  #values({ changed = false } = {}) {
    const texts = this.#read();
    const read = ({ name, isPlace }) => {
      const written = texts[name].trim();
      const times = isTime(name) ? fromInput(written, this.#zone) : null;
      if (times) return times[texts[turnOf(name)]] ?? times[0] ?? null;
      if (name === "link") return webAddress(written) || null;
      return written === "" ? null : isPlace ? degrees(written) : written;
    };
    return Object.fromEntries(fields.filter(({ name }) => !changed || this.#isChanged(name, texts)).map((field) => [field.name, read(field)]));
  }

  async #submit(submission) {
    submission.preventDefault();
    const button = this.#form.querySelector("[type=submit]");
    if (button.disabled || this.#isEnded) return;
    button.disabled = true;
    this.#showErrors({});
    this.#say("");
    try {
      while (!(await this.#save()));
    } catch (error) {
      if (!(error instanceof api.APIError)) throw error;
      // Without an answer the write may have happened: the next attempt has the same key.
      if (error.status !== 0 && error.status < 500) this.#key = api.newKey();
      this.#showErrors(error.fields);
      this.#say(this.#text(error), error.isOffline ? "offline" : Object.keys(error.fields).length > 0 ? "fields" : null);
      this.#offer(error.both ?? []);
      if (error.status === 404 || error.status === 410) this.end(error);
    } finally {
      button.disabled = false;
    }
  }

  /** Saves the event. Resolves to false if another window was faster with other fields: then the form has them, and goes on from there. */
  async #save() {
    await this.#loading;
    for (const name of ["lat", "lon"]) this.#spread(this.#form.elements[name]);
    refuse(this.#unreadable);
    const isNew = this.#event.id === undefined;
    const changes = this.#values({ changed: !isNew });
    if (Object.keys(changes).length === 0) {
      this.#hasInput = false;
      this.#handlers.close();
      return true;
    }
    const event = { ...this.#event, ...changes };
    const hasTimes = "started_at" in changes || "ended_at" in changes;
    const errors = hasTimes ? timeErrors(event) : {};
    if (isNew && event.lat === null && event.lon === null) errors.lat = text("form.place.missing");
    const over = [...(changes.description ?? "")].length - descriptionLimit;
    if (over > 0) errors.description = tooLong(over);
    refuse(errors);
    if (hasTimes && event.started_at !== null && !(await this.#isSure(event))) return true;
    try {
      const id = await signedIn(async () => {
        if (isNew) return api.create(event, this.#key);
        // The version is not known: it is read first, and merged.
        if (this.#tag === null) throw new api.APIError(412);
        await api.update(this.#event.id, changes, this.#tag, this.#key);
        return this.#event.id;
      });
      this.#hasInput = false;
      EventForm.forget();
      this.#handlers.saved(id, event, isNew);
      return true;
    } catch (error) {
      if (error.status !== 412) throw error;
      const { data, tag } = await api.event(this.#event.id);
      if (tag === null) throw new api.APIError(500, { detail: text("form.problem.proxy") });
      // There is no other version: the same request would be refused for ever.
      if (tag === this.#tag) throw new api.APIError(500, { detail: text("form.problem.version") });
      const both = this.#adopt(data, tag);
      this.#key = api.newKey();
      if (both.length === 0) return false;
      throw Object.assign(error, { both, fields: Object.fromEntries(both.map((part) => [part[0], inWords(data, part, this.#zone)])) });
    }
  }

  /** Asks once about times that are surely not meant. */
  async #isSure(event) {
    const doubts = timeDoubts({ ...event, time_zone: this.#zone }, this.#event.id === undefined ? null : this.#event);
    const sureTimes = `${event.started_at} ${event.ended_at}`;
    const [name] = Object.keys(doubts);
    if (name === undefined || sureTimes === this.#sureTimes) return true;
    const question = [...Object.values(doubts), text("form.sure")].join(" ");
    const isSure = await confirmed(question, { yes: text("form.sure.yes"), no: text("form.sure.no") });
    if (isSure) this.#sureTimes = sureTimes;
    else this.#form.elements[name].focus();
    return isSure;
  }

  #text(error) {
    if (error.status === 412) return text("form.problem.overtaken");
    if (error.isOffline) return `${error.message} ${text("form.problem.offline")}`;
    return error.fields[""] ?? (Object.keys(error.fields).length > 0 ? text("form.problem.fields") : error.message);
  }

  #say(sentence, cause = null) {
    if (this.#isEnded) return;
    this.#cause = cause;
    this.#form.querySelector(".problem").textContent = sentence;
  }

  /** What a sentence about a field depends on: one about a time may mean both times, and their turns. */
  #stateOf(name) {
    const names = isTime(name) ? [...timeNames, ...timeNames.map(turnOf)] : [name];
    return names.map((name) => this.#form.elements[name]).map(({ value, validity }) => `${value} ${validity.badInput}`).join();
  }

  /** The sentences go about fields that are no longer as they were refused. */
  #forgetMended() {
    const mended = [...this.#faults].filter(([name, state]) => this.#stateOf(name) !== state);
    for (const [name] of mended) this.#mark(name, "");
  }

  /** Says what is wrong with a field. What was said about all of them ends with the last one. @param error "" for none */
  #mark(name, error) {
    byID(`error-${name}`).textContent = error;
    if (error === "") this.#faults.delete(name);
    else this.#faults.set(name, this.#stateOf(name));
    if (error !== "") this.#form.elements[name].setAttribute("aria-invalid", "true");
    else this.#form.elements[name].removeAttribute("aria-invalid");
    if (this.#cause === "fields" && !this.#form.querySelector(".error:not(:empty)")) this.#say("");
  }

  #showErrors(errors) {
    for (const { name } of fields) this.#mark(name, errors[name] ?? "");
    this.#form.querySelector("[aria-invalid]")?.focus();
  }
}
