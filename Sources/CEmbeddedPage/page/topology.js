// Reads TopoJSON: arcs that neighbouring countries share, in steps of a grid. Source: the TopoJSON specification, section 2.

/** The countries as GeoJSON features. */
export function features(topology, name) {
  const arcs = topology.arcs.map((arc) => decoded(arc, topology.transform));
  return topology.objects[name].geometries.map((geometry) => ({
    type: "Feature",
    properties: geometry.properties,
    geometry: { type: geometry.type, coordinates: coordinates(geometry, arcs) },
  }));
}

/** The borders between two countries, as a GeoJSON geometry: the arcs that two countries have. */
export function borders(topology, name) {
  const counts = new Map();
  for (const { arcs } of topology.objects[name].geometries) {
    // The complement of an arc's index means the arc in the other direction.
    for (const arc of arcs.flat(2).map((index) => Math.max(index, ~index))) counts.set(arc, (counts.get(arc) ?? 0) + 1);
  }
  const shared = topology.arcs.filter((_, index) => counts.get(index) > 1);
  return { type: "MultiLineString", coordinates: shared.map((arc) => decoded(arc, topology.transform)) };
}

/** The points of an arc. Each is the difference to the one before. */
function decoded(arc, { scale, translate }) {
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
}

function coordinates({ type, arcs: indices }, arcs) {
  const ring = (list) => joined(list, arcs);
  return type === "Polygon" ? indices.map(ring) : indices.map((polygon) => polygon.map(ring));
}

/** A ring of several arcs. An index below 0 means the arc in the other direction. */
function joined(indices, arcs) {
  const points = [];
  for (const index of indices) {
    const arc = index < 0 ? arcs[~index].toReversed() : arcs[index];
    points.push(...(points.length > 0 ? arc.slice(1) : arc));
  }
  return points;
}
