// The ground of the map: countries and cities, or the tiles of a server that the settings name.
import { element } from "./dom.js";
import { features } from "./topology.js";

/* global L */

/** From this zoom on the finer borders are shown. */
const fineZoom = 4;
const labelLimit = 40;
const citySources = "© GeoNames, Natural Earth";

const color = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

/**
 * @param {string} assets the path of the page's files
 * @param {Promise} cities what loadCities returns
 */
export async function addGround(map, assets, tiles, cities) {
  if (tiles.template) {
    L.tileLayer(tiles.template, { attribution: asHTML(tiles.attribution), maxZoom: 19 }).addTo(map);
    return;
  }
  map.attributionControl.addAttribution(citySources);
  await addCountries(map, assets);
  addLabels(map, await cities);
}

/** Leaflet takes an attribution as HTML. */
function asHTML(text) {
  return element("span", {}, text).innerHTML;
}

/** Cities with the greatest first: { name, lat, lon, population }. */
export async function loadCities(assets) {
  const text = await (await fetch(`${assets}/cities.tsv`)).text();
  const rows = text.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
  return rows
    .map(([name, , lat, lon, population]) => ({ name, lat: Number(lat), lon: Number(lon), population: Number(population) }))
    .sort((one, other) => other.population - one.population);
}

async function addCountries(map, assets) {
  map.createPane("countries").style.zIndex = 150;
  const renderer = L.canvas({ pane: "countries", padding: 0.5 });
  const style = () => ({ color: color("--border"), weight: 0.7, fillColor: color("--land"), fillOpacity: 1 });
  const layers = {};
  const load = async (scale) => {
    const topology = await (await fetch(`${assets}/countries-${scale}.topojson`)).json();
    const countries = features(topology, "countries");
    // Three worlds beside each other: the map can show the date line.
    layers[scale] = L.layerGroup([-360, 0, 360].map((shift) => {
      const coordsToLatLng = ([lon, lat]) => L.latLng(lat, lon + shift);
      return L.geoJSON(countries, { renderer, style, interactive: false, coordsToLatLng });
    }));
  };
  const show = async () => {
    const scale = map.getZoom() >= fineZoom ? "50m" : "110m";
    layers[scale] ??= await load(scale).then(() => layers[scale]);
    for (const [name, layer] of Object.entries(layers)) {
      if (name === scale) layer.addTo(map);
      else layer.remove();
    }
  };
  map.on("zoomend", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const layer of Object.values(layers)) layer.eachLayer((world) => world.setStyle(style()));
  });
  await show();
}

/** The names of the largest cities in view that leave room for each other. */
function addLabels(map, cities) {
  map.createPane("labels").style.zIndex = 350;
  const labels = L.layerGroup().addTo(map);
  const show = () => {
    labels.clearLayers();
    const taken = [];
    for (const city of cities) {
      if (taken.length >= labelLimit) break;
      const place = L.latLng(city.lat, nearestCopy(city.lon, map.getCenter().lng));
      if (!map.getBounds().contains(place)) continue;
      const point = map.latLngToLayerPoint(place);
      const hasRoom = taken.every((other) => Math.abs(other.x - point.x) > 90 || Math.abs(other.y - point.y) > 22);
      if (!hasRoom) continue;
      taken.push(point);
      const icon = L.divIcon({ className: "city", html: element("span", {}, city.name), iconSize: null });
      L.marker(place, { icon, pane: "labels", interactive: false, keyboard: false }).addTo(labels);
    }
  };
  map.on("moveend", show);
  show();
}

/** The longitude plus or minus whole turns that is nearest to another one. */
export function nearestCopy(lon, centre) {
  return lon + Math.round((centre - lon) / 360) * 360;
}
