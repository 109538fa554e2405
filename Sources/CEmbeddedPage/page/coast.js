// The coast, from the zoom on at which the countries' outlines would be kilometres off: land and lakes in tiles, over the countries.
/* global L */

/** From this zoom on the coast is shown. */
export const coastZoom = 8;
/** The zoom of the tiles that the server has, and the zoom from which on the page takes them. */
const levels = [{ level: 9, from: 10 }, { level: 6, from: 0 }];
/** Steps of a path to the side of its tile. */
const steps = 2048;
/** Paths that are kept. The largest has 70 kB. */
const pathLimit = 100;
const lineWidth = 0.7;
/** The pauses before a tile that could not be loaded is asked for again: the first one, and the longest after they have doubled. */
const [firstPauseMilliseconds, longestPauseMilliseconds] = [5_000, 60_000];

/** Adds the layer of tiles. Its `redraw` draws them in the colours of now. */
export function addCoast(map, assets, pane, color) {
  /** The paths of tiles, by name, the least recently used first. */
  const paths = new Map();
  const load = async (name) => {
    const response = await fetch(`${assets}/${name}`);
    if (!response.ok) throw new Error(`${name} has status ${response.status}`);
    return new Path2D(await response.text());
  };
  const pathOf = (name) => {
    const path = paths.get(name) ?? load(name);
    paths.delete(name);
    paths.set(name, path);
    path.catch(() => paths.delete(name));
    if (paths.size > pathLimit) paths.delete(paths.keys().next().value);
    return path;
  };
  const Layer = L.GridLayer.extend({
    createTile({ x, y, z }, done) {
      const canvas = L.DomUtil.create("canvas", "leaflet-tile");
      const side = Math.round(this.getTileSize().x * devicePixelRatio);
      canvas.width = canvas.height = side;
      const { level } = levels.find(({ from }) => z >= from);
      // Tiles of the map to the side of a tile of the server.
      const parts = 2 ** (z - level);
      const name = ["coast", level, Math.floor(x / parts), Math.floor(y / parts)].join("-");
      pathOf(name).then((path) => {
        const context = canvas.getContext("2d");
        const scale = (side * parts) / steps;
        context.fillStyle = color("--sea");
        context.fillRect(0, 0, side, side);
        context.setTransform(scale, 0, 0, scale, -(x % parts) * side, -(y % parts) * side);
        context.fillStyle = color("--land");
        context.fill(path, "evenodd");
        context.strokeStyle = color("--border");
        context.lineWidth = (lineWidth * devicePixelRatio) / scale;
        context.stroke(path);
        done(null, canvas);
      }, (error) => done(error, canvas));
      return canvas;
    },
  });
  const layer = new Layer({ pane, minZoom: coastZoom, maxZoom: 18 });
  /** The next pause of each tile that could not be loaded. */
  const pauses = new Map();
  // Leaflet keeps such a tile, and asks no second time.
  layer.on("tileerror", ({ coords }) => {
    const key = layer._tileCoordsToKey(coords);
    const pause = pauses.get(key) ?? firstPauseMilliseconds;
    pauses.set(key, Math.min(2 * pause, longestPauseMilliseconds));
    setTimeout(() => {
      layer._removeTile(key);
      layer._update();
    }, pause);
  });
  // The server is back.
  layer.on("tileload", () => pauses.clear());
  return layer.addTo(map);
}
