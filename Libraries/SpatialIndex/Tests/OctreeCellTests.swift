import TestChance
import Testing

@testable import SpatialIndex

@Suite struct `Finding the cell of a vector` {
    @Test(arguments: [7, 8] as [UInt64]) func `every vector has a cell, even one off the sphere or with NaN`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let bits = (0..<3).map { _ in Double(bitPattern: .random(in: .min ... .max, using: &generator)) }
            let cell = OctreeCell(UnitVector(x: bits[0], y: bits[1], z: bits[2]))
            #expect(cell != .none && cell.number < 1 << 63)
        }
    }

    @Test func `near cells share more leading bits than far ones`() {
        let berlin = OctreeCell(UnitVector(latitude: 52.52, longitude: 13.405))
        let potsdam = OctreeCell(UnitVector(latitude: 52.39, longitude: 13.06))
        let lima = OctreeCell(UnitVector(latitude: -12.046, longitude: -77.043))
        #expect(berlin.sharedBits(with: berlin) == 63)
        #expect(berlin.sharedBits(with: potsdam) > berlin.sharedBits(with: lima))
    }
}
