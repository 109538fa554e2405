import SpatialIndex
import Testing

@Suite struct `The example of the spatial index` {
    @Test func `the example finds the cities within a distance, nearest first`() {
        let spandau = UnitVector(latitude: 52.53, longitude: 13.2)
        #expect(CityIndex.names(within: 50, of: spandau) == ["Berlin", "Potsdam"])
        #expect(CityIndex.names(within: 10, of: spandau) == [])
        #expect(CityIndex.names(within: 20_000, of: spandau) == ["Berlin", "Potsdam", "Lima"])
    }
}
