import Foundation
import HumonClient

/// `near-me LATITUDE LONGITUDE [KILOMETRES] [SERVER]`: what is on near a place in the next seven days, and every change to it.
@main
enum Program {
    private static let week: TimeInterval = 7 * 86_400

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.prefix(3).compactMap { Double($0) }
        let address = arguments.dropFirst(numbers.count).first ?? "http://127.0.0.1:8080"
        guard (2...3).contains(numbers.count), arguments.count <= numbers.count + 1, let server = URL(string: address) else {
            print("Usage: near-me LATITUDE LONGITUDE [KILOMETRES] [SERVER]", to: .standardError)
            exit(64)
        }
        let here = Coordinate(latitude: numbers[0], longitude: numbers[1])
        // Without a sign-up: reads are public.
        let humon = HumonAPI(server: server, tokens: MemoryTokenStore())
        do {
            try await follow(humon, here, kilometers: numbers.count > 2 ? numbers[2] : 5)
        } catch let error as HumonError {
            print("near-me: \(error)", to: .standardError)
            exit(1)
        }
    }

    private static func follow(_ humon: HumonAPI, _ here: Coordinate, kilometers: Double) async throws {
        let region = Region.circle(center: here, radiusKilometers: kilometers)
        let window = TimeWindow(from: .now, to: .now + week)
        var shown: [Event.ID: Event] = [:]
        for try await change in humon.changes(in: region, during: window) {
            switch change {
            case .list(let events):
                shown = Dictionary(events.map { ($0.id, $0) }) { first, _ in first }
                print("\(events.count) events within \(kilometers) km in the next seven days:", to: .standardOutput)
                for event in events { print(line(event, from: here), to: .standardOutput) }
            case .put(let event):
                let sign = shown.updateValue(event, forKey: event.id) == nil ? "+" : "~"
                print("\(sign)\(line(event, from: here))", to: .standardOutput)
            case .gone(let id):
                if let event = shown.removeValue(forKey: id) { print("-\(line(event, from: here))", to: .standardOutput) }
            case .interrupted(let error): print("offline: \(error)", to: .standardError)
            case .resumed: print("online again", to: .standardError)
            }
        }
    }

    private static func line(_ event: Event, from here: Coordinate) -> String {
        let distance = String(format: "%6.1f km", here.kilometers(to: event.coordinate))
        let start = event.startedAt.formatted(date: .abbreviated, time: .shortened)
        return "\(distance)  \(start)  \(event.name)\(event.address.map { ", \($0)" } ?? "")"
    }

    /// Writes a line at once, also into a pipe. A line that cannot be written is lost: `write(_:)` of `FileHandle` would trap.
    private static func print(_ line: String, to handle: FileHandle) { try? handle.write(contentsOf: Data("\(line)\n".utf8)) }
}
