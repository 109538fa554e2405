import Encoding
import EventStore
import Postgres
import SpatialIndex
import TestDatabase
import Testing

@testable import Events

@Suite struct `The fields of a stream of changes` {
    private static func errors(_ query: String) throws -> [String] {
        let fields = try JSON(query: query.utf8)
        do throws(EventRejection) {
            _ = try ChangeSearch(fields)
            return []
        } catch {
            guard case .invalid(let errors) = error else { return ["\(error)"] }
            return errors.map { "\($0.pointer) \($0.code.rawValue)" }
        }
    }

    @Test func `a box or a circle is the area, and a circle has a radius of 20 km if none is named`() throws {
        func area(_ query: String) throws -> EventArea { try ChangeSearch(JSON(query: query.utf8)).area }
        #expect(try area("bbox=1,2,3,4") == .box(DegreeBox(south: 2, west: 1, north: 4, east: 3)))
        #expect(try area("lat=1&lon=2&radius=3") == .circle(centre: Coordinates(lat: 1, lon: 2), radius: 3))
        #expect(try area("lat=1&lon=2") == .circle(centre: Coordinates(lat: 1, lon: 2), radius: 20))
    }

    @Test func `a position is a number up to 2^53 - 1, with a mark or without, and a stream without one begins now`() throws {
        let positions: [(text: String, cursor: LogCursor?)] = [
            ("", nil), ("&since=0", 0), ("&since=9007199254740991", 9_007_199_254_740_991),
            ("&since=7.kbnapcmd", LogCursor(position: 7, mark: 0xA1D0_F2C3)),
        ]
        for (text, cursor) in positions {
            #expect(try ChangeSearch(JSON(query: "bbox=1,2,3,4\(text)".utf8)).since == cursor)
        }
        for (text, code) in [("-1", "out_of_range"), ("9007199254740992", "out_of_range"), ("1.5", "not_a_whole_number")] {
            #expect(try Self.errors("bbox=1,2,3,4&since=\(text)") == ["/since \(code)"])
        }
    }

    @Test func `a window may be one moment, but not end before it begins`() throws {
        let window = "bbox=1,2,3,4&from=2013-09-16T00:00:01Z&to=2013-09-16T00:00:0"
        #expect(try Self.errors(window + "1Z") == [])
        #expect(try Self.errors(window + "0Z") == ["/to out_of_range"])
    }
}

@Suite struct `The position of new streams` {
    /// Without a database.
    @Test func `a node has a position for streams while its index is in use`() {
        let client = PostgresClient(PostgresConfiguration(url: "postgres://nowhere"), logger: .quiet)
        let notifier = LogNotifier(client: client, listens: false, logger: .quiet)
        let changes = ChangeFeed(heartbeatSeconds: 86_400)
        let index = InMemoryReadModel(
            EventsInMemory(limitBytes: 1_000_000, render: TestNode.render, listener: changes), client: client, notifier: notifier,
            logger: .quiet)
        let module = EventsModule(
            log: EventLog(client: client, projections: [], logger: .quiet), database: client, index: index, changes: changes,
            render: TestNode.render, dependencies: .system)
        #expect(module.changesCursor == nil)
        changes.indexLoaded(at: 5)
        #expect(module.changesCursor == nil)
        index.state.use()
        #expect(module.changesCursor == 5)
        changes.indexClosed()
        #expect(module.changesCursor == nil)
    }
}
