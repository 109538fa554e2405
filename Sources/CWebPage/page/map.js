// The map: Leaflet with markers for events and clusters. It knows nothing of the API.
import { element } from "./dom.js";
import { addGround, nearestCopy } from "./ground.js";

/* global L */

const count = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 });

/** A marker without a layer and an order of its own: a browser cannot move a thousand of these thirty times a second. */
const FlatMarker = L.Marker.extend({
  _setPos(position) {
    this._icon.style.left = `${position.x}px`;
    this._icon.style.top = `${position.y}px`;
  },
});

export class EventMap {
  #map;
  #markers = L.layerGroup();
  #shown = new Map();
  #draft = null;
  #selected = null;
  #handlers;

  /** @param handlers { moved(), open(id), zoomed(), place(lat, lon) } */
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
    L.control.zoom({ position: "topright" }).addTo(this.#map);
    this.#markers.addTo(this.#map);
    this.#map.on("moveend", () => handlers.moved());
    this.#map.on("click", ({ latlng }) => this.#draft && this.#choose(latlng));
    // A long press on a touch screen, too.
    this.#map.on("contextmenu", ({ latlng }) => this.#choose(latlng));
    new ResizeObserver(() => this.#map.invalidateSize()).observe(container);
    container.setAttribute("role", "application");
    container.setAttribute("aria-label", "Map of events. Arrow keys move it, plus and minus zoom. The list beside it has the same events.");
  }

  addGround(assets, tiles, cities) { return addGround(this.#map, assets, tiles, cities); }

  get bounds() { return this.#map.getBounds(); }

  get view() {
    const { lat, lng } = this.#map.getCenter().wrap();
    return { lat, lon: lng, zoom: this.#map.getZoom() };
  }

  /** Moves to a place; keeps the zoom if it is greater. */
  show(lat, lon, zoom = 0) {
    const centre = this.#map.getCenter();
    this.#map.setView([lat, nearestCopy(lon, centre.lng)], Math.max(zoom, this.#map.getZoom()));
  }

  setView({ lat, lon, zoom }) { this.#map.setView([lat, lon], zoom); }

  showBox([west, south, east, north]) {
    const end = east < west ? east + 360 : east;
    const bounds = L.latLngBounds([south, west], [north, end]);
    const before = this.#map.getZoom();
    this.#map.fitBounds(bounds, { maxZoom: Math.max(before + 4, 12), padding: [30, 30] });
    // The cells of a cluster can be wider than the view: opening one always leads further in.
    if (this.#map.getZoom() <= before) this.#map.setView(bounds.getCenter(), before + 2);
  }

  /** Shows these events and no others. @param isMine tells the visitor's own ones */
  showEvents(events, isMine) {
    this.#clear();
    for (const event of events) this.put(event, isMine(event));
  }

  /** Adds an event, or moves it. */
  put(event, isMine) {
    this.remove(event.id);
    const icon = L.divIcon({ className: `pin${isMine ? " mine" : ""}`, iconSize: [18, 18] });
    const marker = new FlatMarker(this.#place(event.lat, event.lon), { icon, title: event.name, keyboard: false });
    marker.on("click", () => this.#handlers.open(event.id));
    marker.addTo(this.#markers);
    marker.getElement().dataset.event = event.id;
    this.#shown.set(event.id, marker);
    if (event.id === this.#selected) this.select(event.id);
  }

  remove(id) {
    this.#shown.get(id)?.remove();
    this.#markers.removeLayer(this.#shown.get(id) ?? {});
    this.#shown.delete(id);
  }

  select(id) {
    this.#shown.get(this.#selected)?.getElement()?.classList.remove("selected");
    this.#selected = id;
    this.#shown.get(id)?.getElement()?.classList.add("selected");
  }

  /** Shows clusters: { lat, lon, count, bbox }. */
  showClusters(clusters) {
    this.#clear();
    for (const cluster of clusters) {
      const size = Math.round(26 + 8 * Math.log10(cluster.count));
      const icon = L.divIcon({
        className: "cluster", iconSize: [size, size], html: element("span", {}, count.format(cluster.count)),
      });
      const marker = new FlatMarker(this.#place(cluster.lat, cluster.lon), { icon, keyboard: false, title: `${cluster.count} events` });
      marker.on("click", () => this.showBox(cluster.bbox));
      marker.addTo(this.#markers);
    }
  }

  /** Shows the place of an event that is being written; null ends it. */
  draft(place) {
    if (place === null) {
      this.#draft?.remove();
      this.#draft = null;
      return;
    }
    if (!this.#draft) {
      const icon = L.divIcon({ className: "pin draft", iconSize: [26, 26], iconAnchor: [0, 26] });
      this.#draft = L.marker([0, 0], { icon, draggable: true, keyboard: false, title: "Drag me to the place", zIndexOffset: 2000 });
      this.#draft.on("dragend", () => this.#choose(this.#draft.getLatLng()));
      this.#draft.addTo(this.#map);
    }
    this.#draft.setLatLng(this.#place(place.lat, place.lon));
  }

  #choose(latlng) {
    const { lat, lng } = latlng.wrap();
    this.#handlers.place(Number(lat.toFixed(6)), Number(lng.toFixed(6)));
  }

  #place(lat, lon) { return [lat, nearestCopy(lon, this.#map.getCenter().lng)]; }

  #clear() {
    this.#markers.clearLayers();
    this.#shown.clear();
  }
}
