// Joins clusters that would cover each other on the map. The API counts in cells, and a city may lie in two or four of them.

/** Clusters whose middles are nearer than this become one, in pixels. */
const roomPixels = 46;

/** The diameter of a cluster on the map, in pixels. */
export const diameter = (count) => Math.round(26 + 8 * Math.log10(count));

/** The point of a place on a map with tiles of 256 pixels. */
export function pixel({ lat, lon }, zoom) {
  const size = 256 * 2 ** zoom;
  const sine = Math.sin((Math.max(-85, Math.min(85, lat)) * Math.PI) / 180);
  return { x: (size * (lon + 180)) / 360, y: size * (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) };
}

/** @param clusters { lat, lon, count, bbox }, as the API has them  @returns the same events in fewer clusters, the greatest first */
export function joined(clusters, zoom) {
  const kept = [];
  const world = 256 * 2 ** zoom;
  /** The distance of two points on the globe, across the date line where that is shorter. */
  const distance = (one, other) => {
    const across = Math.abs(one.x - other.x);
    return Math.hypot(Math.min(across, world - across), one.y - other.y);
  };
  for (const cluster of clusters.toSorted((one, other) => other.count - one.count)) {
    const { x, y } = pixel(cluster, zoom);
    const near = kept.find((other) => distance(other, { x, y }) < roomPixels);
    if (near === undefined) {
      kept.push({ ...cluster, x, y });
      continue;
    }
    near.count += cluster.count;
    const [west, south, east, north] = near.bbox;
    const [otherWest, otherSouth, otherEast, otherNorth] = cluster.bbox;
    // A box across the date line goes on behind 180 or -180.
    const turns = 360 * Math.round((near.lon - cluster.lon) / 360);
    near.bbox = [
      Math.min(west, otherWest + turns), Math.min(south, otherSouth), Math.max(east, otherEast + turns), Math.max(north, otherNorth),
    ];
  }
  return kept.map(({ lat, lon, count, bbox }) => ({ lat, lon, count, bbox })).sort((one, other) => other.count - one.count);
}
