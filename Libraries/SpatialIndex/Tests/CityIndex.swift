import SpatialIndex

enum CityIndex {
    static let cities = [
        (id: 1, name: "Berlin", latitude: 52.52, longitude: 13.405), (id: 2, name: "Potsdam", latitude: 52.39, longitude: 13.06),
        (id: 3, name: "Lima", latitude: -12.046, longitude: -77.043),
    ]

    /// The names of the cities within a distance, nearest first.
    static func names(within kilometres: Double, of centre: UnitVector) -> [String] {
        let index = PointIndex()
        var batch = PointIndex.Batch()
        for city in cities {
            let location = PointIndex.Location(latitude: city.latitude, longitude: city.longitude)
            batch.put(Int64(city.id), version: 1, at: location, payload: city.name.utf8)
        }
        index.apply(batch, position: 1)
        let earthRadius = 6_371.0088
        let query = NearestQuery(
            centre: centre, squaredChord: UnitVector.squaredChord(angle: kilometres / earthRadius), limit: 10)
        let page = index.snapshot.search(query).result()
        return (0..<page.count).map { String(decoding: page[$0].payload, as: UTF8.self) }
    }
}
