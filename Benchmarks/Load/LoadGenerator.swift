internal import ArgumentParser
internal import Encoding
internal import Foundation
internal import NIOCore
internal import NIOPosix

/// Sends the requests of a plan at a constant rate and measures the latencies from the moments at which the requests were due.
@main
struct LoadGenerator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "LoadGenerator",
        abstract: "Measures latencies at a constant rate, without coordinated omission.",
        discussion: """
            PLAN is a JSON file. Its member "routes" has an object for each route: "name", "requests" (a file with a request a line: \
            METHOD PATH BODY), "per_second", and optionally "connections" and "headers". Each route has connections and a histogram of \
            its own. A latency begins when the request was due, so the wait for a free connection counts.

            The command prints a line when a window begins and when the last one ends, then a table. It exits with 1 if a request \
            failed, which the table shows by status.
            """
    )

    @Argument(help: "The file with the plan.")
    var plan: String

    @Option(help: "The server's port on 127.0.0.1.")
    var port = 8080

    @Option(help: "Requests a second in total; the rates of the plan become proportions. Without it, the rates of the plan.")
    var perSecond: Double?

    @Option(
        help: """
            Number of clients that send their next request after a response (full load); the rates of the plan become proportions, and \
            latencies begin at the sending.
            """
    )
    var fullLoad: Int?

    @Option(help: "Seconds of a window.")
    var seconds = 10.0

    @Option(help: "Number of windows, each with results of its own.")
    var windows = 1

    @Option(help: "Seconds before the first window.")
    var warmUp = 2.0

    @Option(help: "Write the results as JSON to this file, in milliseconds.")
    var json: String?

    @Option(help: "Write an HDR percentile distribution for each route to this directory (NAME.hgrm, in milliseconds).")
    var histograms: String?

    func validate() throws {
        guard seconds > 0, windows > 0, warmUp >= 0, perSecond ?? 1 > 0, fullLoad ?? 1 > 0 else {
            throw ValidationError("Seconds, windows, rates and clients are above 0.")
        }
    }

    func run() async throws {
        let results = try await measure()
        print("\n\(results.table)")
        if let json { try Data(results.json.utf8).write(to: URL(fileURLWithPath: json)) }
        if let histograms {
            try FileManager.default.createDirectory(atPath: histograms, withIntermediateDirectories: true)
            for route in results.routes {
                let file = URL(fileURLWithPath: histograms).appendingPathComponent("\(route.fileName).hgrm")
                try Data(route.total.latency.percentileDistribution.utf8).write(to: file)
            }
        }
        if results.hasFailures { throw ExitCode.failure }
    }

    private func measure() async throws -> LoadResults {
        let file = URL(fileURLWithPath: plan)
        var plan = try LoadPlan(JSON(utf8: [UInt8](Data(contentsOf: file))))
        if let perSecond { plan = plan.scaled(toPerSecond: perSecond) }
        let routes = try zip(plan.routes, plan.schedules).map { route, schedule in
            let text = try String(
                contentsOf: file.deletingLastPathComponent().appendingPathComponent(route.requests), encoding: .utf8)
            return (route, schedule, try RequestFile(text, host: "127.0.0.1:\(port)", headers: route.headers))
        }
        let count = windows
        let run = LoadRun(
            address: try SocketAddress(ipAddress: "127.0.0.1", port: port), routes: routes,
            windows: Windows(warmUp: nanoseconds(warmUp), length: nanoseconds(seconds), count: windows),
            pacing: fullLoad.map { .fullLoad(clients: $0) } ?? .constantRate, loop: MultiThreadedEventLoopGroup.singleton.any()
        ) { window in
            // A script that reads this through a pipe starts its disturbances.
            print(window < count ? "window \(window + 1) of \(count)" : "end")
            fflush(nil)
        }
        return try await run.results()
    }

    private func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * Schedule.nanosecondsPerSecond) }
}
