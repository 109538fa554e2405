internal import EventStore
internal import Foundation
internal import Telemetry

/// Metrics of the process from the operating system, with the names of Prometheus' client libraries, and of the build.
enum ProcessMetrics {
    /// Source: proc(5). A metric that this system does not provide is left out.
    static func now() -> [Metric] {
        let pages = words(of: text("/proc/self/statm")[...])
        let status = self.status
        return [
            .gauge("process_resident_memory_bytes", "Resident memory.", value(bytes(pages: pages, at: 1))),
            .gauge("process_virtual_memory_bytes", "Virtual memory.", value(bytes(pages: pages, at: 0))),
            .counter(
                "process_cpu_seconds_total", "User and system processor time.", cpuSeconds(status)),
            .gauge("process_open_fds", "Open file descriptors.", value(openDescriptors)),
            .gauge("process_max_fds", "Maximum number of open file descriptors.", value(descriptorLimit)),
            .gauge("process_threads", "Threads.", value(number(status, at: 17))),
            .gauge(
                "process_start_time_seconds", "Start time of the process, in seconds since 1970-01-01 UTC.",
                value(startSeconds)),
            .gauge("humon_build_info", "1; the labels describe the running program.", [(build, 1)]),
        ]
    }

    private static let build: Labels = {
        #if DEBUG
            let configuration = "debug"
        #else
            let configuration = "release"
        #endif
        #if swift(>=6.4)
            let compiler = "6.4 or later"
        #elseif swift(>=6.3)
            let compiler = "6.3"
        #else
            let compiler = "6.2"
        #endif
        let readModels = Backend.projections.map { type(of: $0).schema }.sorted().joined(separator: " ")
        return ["version": Version.current, "configuration": configuration, "swift": compiler, "read_models": readModels]
    }()

    private static func value(_ value: Double?) -> [(Labels, Double)] { value.map { [(Labels(), $0)] } ?? [] }

    /// The fields of proc(5) after the name of the program, which may contain any character; the first field is the state.
    private static var status: [Substring] {
        let text = text("/proc/self/stat")
        return text.lastIndex(of: ")").map { words(of: text[text.index(after: $0)...]) } ?? []
    }

    private static func bytes(pages: [Substring], at index: Int) -> Double? {
        number(pages, at: index).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
    }

    /// User and system time.
    private static func cpuSeconds(_ status: [Substring]) -> Double {
        ((number(status, at: 11) ?? 0) + (number(status, at: 12) ?? 0)) / ticksPerSecond
    }

    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    private static var openDescriptors: Double? {
        // One descriptor is open for the listing itself.
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count - 1) }
    }

    private static var descriptorLimit: Double? {
        let line = text("/proc/self/limits").split(separator: "\n").first { $0.hasPrefix("Max open files") }
        return line.map { words(of: $0) }.flatMap { $0.count > 3 ? Double($0[3]) : nil }
    }

    /// Computed once, because a later change of the clock would change the result.
    private static let startSeconds: Double? = {
        let now = Date().timeIntervalSince1970
        guard let ticks = number(status, at: 19), let uptime = number(words(of: text("/proc/uptime")[...]), at: 0) else {
            return nil
        }
        return now - uptime + ticks / ticksPerSecond
    }()

    private static func number(_ words: [Substring], at index: Int) -> Double? {
        words.indices.contains(index) ? Double(words[index]) : nil
    }

    private static func words(of text: Substring) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }

    private static func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}
