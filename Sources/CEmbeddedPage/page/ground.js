// The ground of the map: countries and cities, or the tiles of a server that the settings name.
import { addCoast, coastZoom } from "./coast.js";
import { element } from "./dom.js";
import { borders, features } from "./topology.js";

/* global L */

/** From this zoom on the finer borders are shown. */
const fineZoom = 4;
/** From this zoom on a view can be without any border: lines of latitude and longitude show that the map moves. */
const gridZoom = 8;
/** The least distance of two lines, in pixels, and the distances in degrees. */
const gridPixels = 110;
const gridDegrees = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
const labelLimit = 40;
/** The room of a label, in pixels. */
const labelRoom = { x: 90, y: 20 };
/** From the place of a label to its middle, in pixels. */
const labelDepth = 22;
const zoneZoom = 6;
/** A file that does not come after this time is left out. */
const limitMilliseconds = 30_000;
const citySources = "© GeoNames, GSHHG, Natural Earth";

const color = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

/**
 * @param {string} assets the path of the page's files
 * @param {Promise} cities what loadCities returns
 * @returns what keeps the names of cities free of clusters: { avoid(circles) }, each { cluster, place, radius }
 */
export async function addGround(map, assets, tiles, cities) {
  if (tiles.template) {
    L.tileLayer(tiles.template, { attribution: asHTML(tiles.attribution), maxZoom: 19 }).addTo(map);
    return { avoid() {} };
  }
  map.attributionControl.addAttribution(citySources);
  await addCountries(map, assets);
  return addLabels(map, await cities);
}

/** Leaflet takes an attribution as HTML. */
function asHTML(text) {
  return element("span", {}, text).innerHTML;
}

async function loadRows(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(limitMilliseconds) });
  if (!response.ok) throw new Error(`${path} has status ${response.status}`);
  return (await response.text()).split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
}

/** The places of time zones, for a first view without a question and for the form: { lat, lon, zoom, names }. None without a network. */
export async function loadZones(assets) {
  const rows = await loadRows(`${assets}/zones.tsv`).catch(() => []);
  return rows.map(([lat, lon, names]) => ({ lat: Number(lat), lon: Number(lon), zoom: zoneZoom, names: names.split(" ") }));
}

/** Cities with the greatest first: { name, lat, lon, population }. None without a network: the map is of use without their names. */
export async function loadCities(assets) {
  const rows = await loadRows(`${assets}/cities.tsv`).catch(() => []);
  return rows
    .map(([name, , lat, lon, population]) => ({ name, lat: Number(lat), lon: Number(lon), population: Number(population) }))
    .sort((one, other) => other.population - one.population);
}

async function addCountries(map, assets) {
  ["countries", "coast", "lines"].forEach((name, index) => { map.createPane(name).style.zIndex = 150 + index; });
  const [renderer, lines] = ["countries", "lines"].map((pane) => L.canvas({ pane, padding: 0.5 }));
  const coast = addCoast(map, assets, "coast", color);
  const style = () => ({ color: color("--border"), weight: 0.7, fillColor: color("--land"), fillOpacity: 1 });
  /** Land and borders as GeoJSON, by scale. */
  const countries = {};
  /** The worlds that were drawn, by scale and by turns around the globe: the map can show the date line. */
  const worlds = new Map();
  const grid = L.layerGroup().addTo(map);
  const draw = (scale, turn) => {
    const coordsToLatLng = ([lon, lat]) => L.latLng(lat, lon + turn * 360);
    const layer = (data, renderer) => L.geoJSON(data, { renderer, style, interactive: false, coordsToLatLng });
    // The tiles of the coast cover the countries, and not the borders between them.
    return { land: layer(countries[scale].land, renderer), borders: layer(countries[scale].borders, lines) };
  };
  const toggle = (layer, isShown) => (isShown ? layer.addTo(map) : layer.remove());
  const scaleNow = () => (map.getZoom() >= fineZoom ? "50m" : "110m");
  const show = async () => {
    const scale = scaleNow();
    // Without a network the other scale stays, until the map moves again.
    countries[scale] ??= await fetchCountries(assets, scale).catch(() => null);
    if (countries[scale] === null || scale !== scaleNow()) return;
    const shown = new Set(turnsInView(map).map((turn) => `${scale}/${turn}`));
    for (const name of shown) {
      if (!worlds.has(name)) worlds.set(name, draw(scale, Number(name.split("/")[1])));
    }
    for (const [name, world] of worlds) {
      const isShown = shown.has(name);
      toggle(world.land, isShown);
      toggle(world.borders, isShown && map.getZoom() >= coastZoom);
    }
    drawGrid(map, grid, lines);
  };
  map.on("moveend", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const { land, borders } of worlds.values()) [land, borders].forEach((layer) => layer.setStyle(style()));
    // Below its least zoom a layer of tiles would draw all the same.
    if (map.getZoom() >= coastZoom) coast.redraw();
    drawGrid(map, grid, lines);
  });
  await show();
}

async function fetchCountries(assets, scale) {
  const topology = await (await fetch(`${assets}/countries-${scale}.topojson`)).json();
  const isFine = scale === "50m";
  return { land: features(topology, "countries"), borders: isFine ? borders(topology, "countries") : [] };
}

/** The turns around the globe that a view shows, and half a view more on each side: 0 for most, 0 and 1 at the date line. */
function turnsInView(map) {
  const bounds = map.getBounds().pad(0.5);
  const [first, last] = [bounds.getWest(), bounds.getEast()].map((lon) => Math.floor((lon + 180) / 360));
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Lines of latitude and longitude, thin, over half a view more on each side. */
function drawGrid(map, grid, renderer) {
  grid.clearLayers();
  if (map.getZoom() < gridZoom) return;
  const degreePixels = (256 * 2 ** map.getZoom()) / 360;
  const step = gridDegrees.find((degrees) => degrees * degreePixels >= gridPixels);
  const bounds = map.getBounds().pad(0.5);
  const [south, north] = [Math.max(-85, bounds.getSouth()), Math.min(85, bounds.getNorth())];
  const style = { renderer, interactive: false, color: color("--grid"), weight: 1 };
  const add = (...ends) => L.polyline(ends, style).addTo(grid);
  const from = (edge) => Math.floor(edge / step);
  for (let i = from(bounds.getWest()); i * step < bounds.getEast(); i += 1) add([south, i * step], [north, i * step]);
  for (let i = from(south); i * step < north; i += 1) add([i * step, bounds.getWest()], [i * step, bounds.getEast()]);
}

/** The names of the largest cities in view that leave room for each other. A cluster has the name of its city below it. */
function addLabels(map, cities) {
  map.createPane("labels").style.zIndex = 350;
  const labels = L.layerGroup().addTo(map);
  let circles = [];
  const show = () => {
    labels.clearLayers();
    const covers = circles.map((circle) => ({ ...circle, point: map.latLngToLayerPoint(circle.place) }));
    const taken = [];
    for (const city of cities) {
      if (taken.length >= labelLimit) break;
      const place = L.latLng(city.lat, nearestCopy(city.lon, map.getCenter().lng));
      if (!map.getBounds().contains(place)) continue;
      const point = map.latLngToLayerPoint(place);
      // A cluster has one name, here and in the list.
      const cover = covers.find((circle) => circle.city === city);
      if (!cover && covers.some((circle) => circle.point.distanceTo(point) < circle.radius + 6)) continue;
      const start = cover ? cover.point.add([0, cover.radius - 8]) : point;
      const middle = start.add([0, labelDepth]);
      const hasRoom = taken.every(({ x, y }) => Math.abs(x - middle.x) > labelRoom.x || Math.abs(y - middle.y) > labelRoom.y);
      const isFree = covers.every(
        ({ point: other, radius }) => Math.abs(other.x - middle.x) > radius + 28 || Math.abs(other.y - middle.y) > radius + 6);
      if (!hasRoom || !isFree) continue;
      taken.push(middle);
      const icon = L.divIcon({ className: cover ? "city covered" : "city", html: element("span", {}, city.name), iconSize: null });
      L.marker(map.layerPointToLatLng(start), { icon, pane: "labels", interactive: false, keyboard: false }).addTo(labels);
    }
  };
  map.on("moveend", show);
  show();
  return {
    avoid(others) {
      circles = others.map((circle) => ({ ...circle, city: cityOf(circle.cluster, cities) }));
      show();
    },
  };
}

/** The longitude plus or minus whole turns that is nearest to another one. */
export function nearestCopy(lon, centre) {
  return lon + Math.round((centre - lon) / 360) * 360;
}

/** The largest city of a cluster's box, or a near one. Null far from all cities. */
export function cityOf({ lat, lon, bbox: [west, south, east, north] }, cities) {
  // A box can go on behind 180 or -180 degrees.
  const lonOf = (city) => nearestCopy(city.lon, lon);
  const isInside = (city) => city.lat >= south && city.lat <= north && lonOf(city) >= west && lonOf(city) <= east;
  const distance = (city) => (city.lat - lat) ** 2 + ((lonOf(city) - lon) * Math.cos((lat * Math.PI) / 180)) ** 2;
  const near = () => cities.filter((city) => distance(city) < 9).sort((one, other) => distance(one) - distance(other))[0];
  // The largest is the first.
  return cities.find(isInside) ?? near() ?? null;
}
