internal import Encoding
internal import Foundation

/// The recordings of a run, and their texts: a table, JSON, and one HDR percentile distribution for each route.
struct LoadResults: Sendable {
    struct Route: Sendable {
        var name: String
        /// One for each window.
        var recordings: [Recording]

        var total: Recording { recordings.dropFirst().reduce(into: recordings[0]) { $0.add($1) } }

        /// The name as a file name: letters and digits, and hyphens between them.
        var fileName: String {
            name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "-")
        }
    }

    var windows: Windows
    var generator: [GeneratorRecording]
    var routes: [Route]

    var hasFailures: Bool { routes.contains { !$0.total.failures.isEmpty } }

    /// The whole run as a Markdown table.
    var table: String {
        let seconds = Self.seconds(windows.length) * Double(windows.count)
        var lines = ["| route | per s | p50 | p90 | p99 | p99.9 | most | failures |", "|---|---:|---:|---:|---:|---:|---:|---|"]
        for route in routes {
            let total = route.total
            let durations = Self.percentiles.map { Self.text(total.latency.milliseconds(percentile: $0)) }
            let failures = total.failures.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            let columns =
                [route.name, String(Int((Double(total.latency.count) / seconds).rounded()))] + durations
                + [Self.text(total.latency.mostMilliseconds), failures.joined(separator: ", ")]
            lines.append("| \(columns.joined(separator: " | ")) |")
        }
        let own = generator.reduce(into: GeneratorRecording()) { $0.add($1) }
        let late = Self.percentiles.map { Self.text(own.lateness.milliseconds(percentile: $0)) }
        lines.append("")
        lines.append(
            "The generator sent late by p50 \(late[0]), p90 \(late[1]), p99 \(late[2]), p99.9 \(late[3]), most "
                + "\(Self.text(own.lateness.mostMilliseconds)). It used \(Self.percent(own.times.ran, of: seconds)) % of a core, and "
                + "waited for a core during \(Self.percent(own.times.waited, of: seconds)) % of the time.")
        return lines.joined(separator: "\n")
    }

    /// Durations in milliseconds.
    var json: JSON {
        let perWindow = (0..<windows.count).map { index in
            Self.json(
                generator[index], routes.map { ($0.name, $0.recordings[index]) }, seconds: Self.seconds(windows.length))
        }
        let total = Self.json(
            generator.reduce(into: GeneratorRecording()) { $0.add($1) }, routes.map { ($0.name, $0.total) },
            seconds: Self.seconds(windows.length) * Double(windows.count))
        return ["total": total, "windows": .array(perWindow)]
    }

    private static let percentiles = [50.0, 90, 99, 99.9]

    private static func json(_ generator: GeneratorRecording, _ routes: [(String, Recording)], seconds: Double) -> JSON {
        let all = routes.dropFirst().reduce(into: routes[0].1.latency) { $0.add($1.1.latency) }
        return [
            "seconds": JSON(seconds), "lateness": json(generator.lateness), "all_routes": json(all),
            "generator_ran_share": JSON(share(generator.times.ran, of: seconds)),
            "generator_waited_share": JSON(share(generator.times.waited, of: seconds)),
            "routes": .array(
                routes.map { name, recording in
                    [
                        "name": JSON(name), "per_second": JSON(Double(recording.latency.count) / seconds),
                        "latency": json(recording.latency), "service": json(recording.service),
                        "failures": .object(
                            JSONObject(
                                members: recording.failures.sorted { $0.key < $1.key }.map {
                                    JSONObject.Member(name: $0.key.description, value: JSON($0.value))
                                })),
                    ]
                }),
        ]
    }

    private static func json(_ durations: Durations) -> JSON {
        [
            "count": JSON(durations.count), "p50": JSON(durations.milliseconds(percentile: 50)),
            "p90": JSON(durations.milliseconds(percentile: 90)), "p99": JSON(durations.milliseconds(percentile: 99)),
            "p99.9": JSON(durations.milliseconds(percentile: 99.9)), "most": JSON(durations.mostMilliseconds),
        ]
    }

    private static func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / Schedule.nanosecondsPerSecond }
    private static func share(_ nanoseconds: Int64, of seconds: Double) -> Double { Self.seconds(nanoseconds) / seconds }
    private static func percent(_ nanoseconds: Int64, of seconds: Double) -> String {
        String(format: "%.1f", share(nanoseconds, of: seconds) * 100)
    }
    private static func text(_ milliseconds: Double) -> String { String(format: "%.1f ms", milliseconds) }
}

extension Recording.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .status(let status): String(status)
        case .broken: "broken"
        case .unanswered: "unanswered"
        }
    }
}
