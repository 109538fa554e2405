// The map: Leaflet with markers for events and clusters. It knows nothing of the API.
import { diameter, pixel } from "./clusters.js";
import { element, isComposed } from "./dom.js";
import { addGround, nearestCopy } from "./ground.js";
import { compact, text } from "./texts.js";

/* global L */

const freshMilliseconds = 4000;
/** From this zoom on a click means a place: a pixel is at most 38 m. */
export const closeZoom = 12;
/** At this zoom the streets around a place fill the map. */
export const streetZoom = 15;

/** A marker without a layer and an order of its own: a browser cannot move a thousand of these thirty times a second. */
const FlatMarker = L.Marker.extend({
  _setPos(position) {
    this._icon.style.left = `${position.x}px`;
    this._icon.style.top = `${position.y}px`;
  },
});

/** Pins that are nearer than this could cover one another, in pixels: the width of the number of a group. */
const pinPixels = 28;

/** Events with the same key lie on top of each other at every zoom: the key has degrees to a metre. 180 and -180 are one longitude. */
export const placeKey = ({ lat, lon }) => [lat, lon].map((degrees) => Math.round(degrees * 1e5)).join().replace(/,-18000000$/, ",18000000");

export class EventMap {
  #map;
  #markers = L.featureGroup();
  /** The groups of events whose pins would cover one another: { lat, lon, point, members, marker }. Members are { event, kind, label } by id. */
  #places = new Set();
  /** The same by the square of the map in which they are. */
  #squares = new Map();
  /** The group of each event, by id. */
  #shown = new Map();
  #draft = null;
  /** Whether a click chooses the place of an event that is being written. */
  #isChoosing = false;
  #selected = null;
  /** The marker of the selected event where no other shows it: among clusters, or beside the filter. */
  #selection = null;
  #hinted = null;
  #offer = null;
  #hadOffer = false;
  #isZooming = false;
  #visitor = null;
  #labels = { avoid() {} };
  /** The clusters that labels avoid: { cluster, place, radius }. */
  #circles = [];
  #handlers;

  /** @param handlers { moved(), open(id), zoom(cluster), list({ key, keys }), place(lat, lon) }: the keys of places that no zoom divides */
  constructor(container, view, handlers) {
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#handlers = handlers;
    this.#map = L.map(container, {
      center: [view.lat, view.lon], zoom: view.zoom, minZoom: 2, maxZoom: 18, worldCopyJump: true, zoomControl: false,
      maxBounds: [[-85, -100_000], [85, 100_000]], maxBoundsViscosity: 1,
      zoomAnimation: !isCalm, fadeAnimation: !isCalm, markerZoomAnimation: !isCalm, inertia: !isCalm,
    });
    this.#map.attributionControl.setPrefix(false);
    this.#map.attributionControl.addAttribution("Leaflet");
    // The map itself runs from west to east in every language.
    const end = document.dir === "rtl" ? "left" : "right";
    this.#map.attributionControl.setPosition(`bottom${end}`);
    const [zoomInTitle, zoomOutTitle] = [text("map.zoom.in"), text("map.zoom.out")];
    L.control.zoom({ position: `top${end}`, zoomInTitle, zoomOutTitle }).addTo(this.#map);
    L.control.scale({ position: `bottom${end}`, imperial: false }).addTo(this.#map);
    this.#markers.addTo(this.#map);
    this.#addTooltip();
    this.#map.on("zoomstart", () => { this.#isZooming = true; });
    this.#map.on("zoomend", () => {
      this.#isZooming = false;
      this.#divide();
    });
    this.#map.on("moveend", () => handlers.moved());
    this.#map.on("preclick", () => { this.#hadOffer = Boolean(this.#offer?.isOpen()); });
    this.#map.on("click", ({ latlng }) => {
      if (this.#isChoosing) this.#choose(latlng);
      // A click beside the bubble only closes it.
      else if (!this.#hadOffer) this.#offerPlace(latlng);
    });
    // A long press on a touch screen, too.
    this.#map.on("contextmenu", ({ latlng }) => this.#choose(latlng));
    new ResizeObserver(() => this.#map.invalidateSize()).observe(container);
    container.addEventListener("keydown", (press) => {
      if (press.key === "Enter" && press.target === container && !isComposed(press)) this.#choose(this.#map.getCenter());
    });
    container.setAttribute("role", "application");
    container.setAttribute("aria-label", text("map.label"));
  }

  async addGround(assets, tiles, cities) {
    this.#labels = await addGround(this.#map, assets, tiles, cities);
    this.#labels.avoid(this.#circles);
  }

  get bounds() { return this.#map.getBounds(); }

  get view() {
    const { lat, lng } = this.#map.getCenter().wrap();
    return { lat, lon: lng, zoom: this.#map.getZoom() };
  }

  /** Whether no zoom is closer. */
  get isClosest() { return this.#map.getZoom() >= this.#map.getMaxZoom(); }

  /** Moves to a place; keeps the zoom if it is greater. */
  show(lat, lon, zoom = 0) {
    // The end of a zoom would move the map back.
    if (this.#isZooming) return this.#map.once("zoomend", () => this.show(lat, lon, zoom));
    this.#map.setView(this.#place(lat, lon), Math.max(zoom, this.#map.getZoom()));
  }

  /**
   * Shows where the visitor is, as close as an event is in view with it.
   * @param event null for none  @returns whether the event is further than a close view
   */
  showVisitor({ lat, lon }, event) {
    this.#visitor ??= L.marker([0, 0], {
      icon: L.divIcon({ className: "visitor", iconSize: [18, 18] }), title: text("map.visitor"), interactive: false, keyboard: false,
    });
    const centre = L.latLng(this.#place(lat, lon));
    this.#visitor.setLatLng(centre).addTo(this.#map);
    const close = Math.max(closeZoom, this.#map.getZoom());
    const corner = event === null ? centre : L.latLng(event.lat, nearestCopy(event.lon, centre.lng));
    const opposite = [2 * centre.lat - corner.lat, 2 * centre.lng - corner.lng];
    const zoom = Math.min(close, this.#map.getBoundsZoom(L.latLngBounds(corner, opposite), false, L.point(60, 60)));
    this.#map.setView(centre, zoom);
    return zoom < close;
  }

  setView({ lat, lon, zoom }) { this.#map.setView([lat, lon], zoom, { animate: false }); }

  /** Whether a place is in view, on any of the worlds beside each other. */
  contains(lat, lon) { return this.#map.getBounds().contains(this.#place(lat, lon)); }

  showBox([west, south, east, north]) {
    const end = east < west ? east + 360 : east;
    const bounds = L.latLngBounds([south, west], [north, end]);
    const before = this.#map.getZoom();
    const fitting = Math.min(this.#map.getBoundsZoom(bounds, false, L.point(60, 60)), Math.max(before + 4, 12));
    // The cells of a cluster can be wider than the view: opening one always leads further in.
    this.#map.setView(bounds.getCenter(), fitting > before ? fitting : before + 2);
  }

  /** Shows these events and no others. @param kindOf the classes of an event's marker @param labelOf the two lines of its bubble */
  showEvents(events, kindOf, labelOf) {
    this.#clear();
    for (const event of events) this.#add({ event, kind: kindOf(event), label: labelOf(event) });
    for (const place of this.#places) this.#draw(place);
    this.#showSelection();
  }

  /** Makes the groups of another zoom. */
  #divide() {
    const members = [...this.#places].flatMap(({ members }) => [...members.values()]);
    if (members.length === 0) return;
    this.#clear();
    for (const member of members) this.#add(member);
    for (const place of this.#places) this.#draw(place);
    this.#showSelection();
  }

  /** Adds an event, or moves it. */
  put(event, kind, label) {
    this.remove(event.id);
    this.#draw(this.#add({ event, kind, label }));
    this.#showSelection();
  }

  #add(member) {
    const { id } = member.event;
    const [lat, lon] = this.#place(member.event.lat, member.event.lon);
    const point = pixel({ lat, lon }, this.#map.getZoom());
    const [column, row] = [point.x, point.y].map((pixels) => Math.floor(pixels / pinPixels));
    const near = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => this.#squares.get(`${column + x},${row + y}`) ?? []));
    let place = near.find((other) => Math.hypot(other.point.x - point.x, other.point.y - point.y) < pinPixels);
    if (place === undefined) {
      const square = `${column},${row}`;
      place = { lat, lon, point, square, members: new Map(), marker: null };
      this.#places.add(place);
      this.#squares.set(square, [...(this.#squares.get(square) ?? []), place]);
    }
    place.members.set(id, member);
    this.#shown.set(id, place);
    return place;
  }

  #delete(place) {
    this.#places.delete(place);
    this.#squares.set(place.square, this.#squares.get(place.square).filter((other) => other !== place));
  }

  /** Draws the one marker of a group: a pin for an event, or the number of its events. */
  #draw(place) {
    if (place.marker !== null) this.#markers.removeLayer(place.marker);
    const members = [...place.members.values()];
    if (members.length === 0) return this.#delete(place);
    const [{ event, kind, label }] = members;
    const isOne = members.length === 1;
    const common = members.every((member) => member.kind === kind) ? kind : "";
    const icon = isOne
      ? L.divIcon({ className: `pin ${kind}`, iconSize: [18, 18] })
      : L.divIcon({ className: `pin stack ${common}`, iconSize: [pinPixels, pinPixels], html: element("span", {}, compact.format(members.length)) });
    const keys = new Set(members.map(({ event }) => placeKey(event)));
    const isPlace = keys.size === 1;
    const count = members.length;
    const isList = isPlace || this.isClosest;
    const hint = isList ? [text("list.title.place", { count }), text("map.stack.hint")] : [text("list.count", { count }), text("map.cluster.hint")];
    const lines = isOne ? label : hint;
    // Whoever led the group may have left it.
    const { lat, lon } = isPlace ? event : place;
    const marker = new FlatMarker(this.#place(lat, lon), { icon, label: lines, alt: "", keyboard: false });
    marker.on("click", () => {
      if (isOne) this.#handlers.open(event.id);
      else if (isList) this.#handlers.list({ key: [...keys].join(" "), keys });
      else this.#map.fitBounds(L.latLngBounds(members.map((member) => this.#place(member.event.lat, member.event.lon))).pad(0.2), { maxZoom: 18 });
    });
    marker.addTo(this.#markers);
    place.marker = marker;
    const pin = marker.getElement();
    if (isOne) pin.dataset.name = event.name;
    pin.classList.toggle("selected", place.members.has(this.#selected?.id));
    pin.classList.toggle("hinted", place.members.has(this.#hinted));
  }

  /** Makes an event that just came stand out for a moment. */
  highlight(id) {
    const pin = this.#pin(id);
    pin?.classList.add("fresh");
    setTimeout(() => pin?.classList.remove("fresh"), freshMilliseconds);
  }

  remove(id) {
    const place = this.#shown.get(id);
    if (!place) return;
    this.#shown.delete(id);
    place.members.delete(id);
    this.#draw(place);
    this.#showSelection();
  }

  #pin(id) { return this.#shown.get(id)?.marker.getElement(); }

  /** Marks an event: { id, lat, lon }. Null ends it. */
  select(event) {
    this.#mark(event?.id, this.#selected?.id, "selected");
    this.#selected = event;
    this.#showSelection();
  }

  #showSelection() {
    this.#selection?.remove();
    this.#selection = null;
    if (this.#selected === null || this.#shown.has(this.#selected.id)) return;
    const { lat, lon } = this.#selected;
    const icon = L.divIcon({ className: "pin selected", iconSize: [18, 18] });
    this.#selection = new FlatMarker(this.#place(lat, lon), { icon, alt: "", keyboard: false, interactive: false });
    this.#selection.addTo(this.#map);
  }

  /** Shows where an event of the list is. Null ends it. */
  hint(id) { this.#hinted = this.#mark(id, this.#hinted, "hinted"); }

  #mark(id, before, name) {
    this.#pin(before)?.classList.remove(name);
    this.#pin(id)?.classList.add(name);
    return id;
  }

  /** Shows clusters: { lat, lon, count, bbox }. */
  showClusters(clusters) {
    this.#clear();
    for (const cluster of clusters) {
      const size = diameter(cluster.count);
      const icon = cluster.count === 1 ? L.divIcon({ className: "pin", iconSize: [18, 18] }) : L.divIcon({
        className: "cluster", iconSize: [size, size], html: element("span", {}, compact.format(cluster.count)),
      });
      const label = [text("list.count", { count: cluster.count }), text("map.cluster.hint")];
      const marker = new FlatMarker(this.#place(cluster.lat, cluster.lon), { icon, label, keyboard: false });
      marker.on("click", () => this.#handlers.zoom(cluster));
      marker.addTo(this.#markers);
    }
    this.#showSelection();
    this.#circles = clusters.map(
      (cluster) => ({ cluster, place: this.#place(cluster.lat, cluster.lon), radius: diameter(cluster.count) / 2 }));
    this.#labels.avoid(this.#circles);
  }

  /** Shows the place of an event that is being written: {} if it has none yet; null ends it. */
  draft(place) {
    this.#isChoosing = place !== null;
    if (place?.lat === undefined) {
      this.#draft?.remove();
      this.#draft = null;
      return;
    }
    this.#map.closePopup();
    if (!this.#draft) {
      const icon = L.divIcon({ className: "pin draft", iconSize: [30, 30], iconAnchor: [15, 34] });
      this.#draft = L.marker([0, 0], { icon, draggable: true, keyboard: false, title: text("map.draft"), zIndexOffset: 2000 });
      this.#draft.on("dragend", () => this.#choose(this.#draft.getLatLng()));
      this.#draft.addTo(this.#map);
    }
    this.#draft.setLatLng(this.#place(place.lat, place.lon));
  }

  /** One bubble for all markers: name and time of the one below the mouse. */
  #addTooltip() {
    const tooltip = L.tooltip({ direction: "top", offset: [0, -10], opacity: 1 });
    this.#markers.on("mouseover", ({ propagatedFrom: marker }) => {
      const [name, detail] = marker.options.label;
      const lines = [element("strong", { dir: "auto" }, name), element("span", { dir: document.dir }, detail)];
      tooltip.setLatLng(marker.getLatLng()).setContent(element("span", {}, ...lines));
      this.#map.openTooltip(tooltip);
    });
    this.#markers.on("mouseout click remove", () => this.#map.closeTooltip(tooltip));
    this.#map.on("movestart zoomstart", () => this.#map.closeTooltip(tooltip));
  }

  /** Offers to add an event at the place of a click. */
  #offerPlace(latlng) {
    const choose = () => {
      this.#map.closePopup();
      this.#choose(latlng);
    };
    const button = element("button", { type: "button", class: "primary", dir: document.dir, onclick: choose }, text("map.offer"));
    this.#offer = L.popup({ closeButton: false, autoPanPadding: [12, 12], className: "offer" });
    this.#offer.setLatLng(latlng).setContent(button).openOn(this.#map);
  }

  #choose(latlng) {
    const { lat, lng } = latlng.wrap();
    this.#handlers.place(Number(lat.toFixed(6)), Number(lng.toFixed(6)));
  }

  #place(lat, lon) { return [lat, nearestCopy(lon, this.#map.getCenter().lng)]; }

  #clear() {
    this.#markers.clearLayers();
    this.#places.clear();
    this.#squares.clear();
    this.#shown.clear();
    this.#circles = [];
    this.#labels.avoid(this.#circles);
  }
}
