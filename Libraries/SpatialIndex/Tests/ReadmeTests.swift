import Foundation
import SpatialIndex
import Testing

@Suite struct `The README of the spatial index` {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test func `the README begins with the example that this target compiles`() throws {
        let page = try String(
            contentsOf: Self.folder.appending(path: "../README.md").standardized, encoding: .utf8)
        let example = try String(contentsOf: Self.folder.appending(path: "CityIndex.swift"), encoding: .utf8)
        #expect(try #require(page.firstMatch(of: /(?s)```swift\n(.*?)```/)).1 == example)
    }

    @Test func `the example finds the cities within a distance, nearest first`() {
        let spandau = UnitVector(latitude: 52.53, longitude: 13.2)
        #expect(CityIndex.names(within: 50, of: spandau) == ["Berlin", "Potsdam"])
        #expect(CityIndex.names(within: 10, of: spandau) == [])
        #expect(CityIndex.names(within: 20_000, of: spandau) == ["Berlin", "Potsdam", "Lima"])
    }
}
