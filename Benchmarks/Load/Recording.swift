internal import Foundation
internal import Histogram

/// Durations in microseconds, with three significant digits.
struct Durations: Sendable {
    /// Longer durations count as this one.
    static let limitMicroseconds: UInt64 = 120_000_000

    private(set) var histogram = Histogram<UInt32>(
        highestTrackableValue: Self.limitMicroseconds, numberOfSignificantValueDigits: .three)

    mutating func record(nanoseconds: Int64) {
        histogram.record(min(UInt64(max(nanoseconds, 0)) / 1_000, Self.limitMicroseconds))
    }

    mutating func add(_ other: Durations) { histogram.add(other.histogram) }

    var count: Int { Int(histogram.totalCount) }

    func milliseconds(percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1_000 }

    var mostMilliseconds: Double { Double(histogram.maxRecorded) / 1_000 }

    /// The distribution in the format of HdrHistogram's plotter, in milliseconds.
    var percentileDistribution: String {
        var text = ""
        histogram.outputPercentileDistribution(to: &text, outputValueUnitScalingRatio: 1_000)
        return text
    }
}

/// What a run records of one route, in one window or in several together.
struct Recording: Sendable {
    enum Failure: Hashable, Comparable, Sendable {
        case status(Int)
        /// The server ended the connection before the response.
        case broken
        /// The run ended before the response.
        case unanswered
    }

    /// From the moment at which a request was due until its response: the wait for a free connection counts.
    var latency = Durations()
    /// From the moment at which a request was sent until its response.
    var service = Durations()
    var failures: [Failure: Int] = [:]

    mutating func responded(status: Int, due: Int64, sent: Int64, now: Int64) {
        guard (200..<400).contains(status) else { return failed(.status(status)) }
        latency.record(nanoseconds: now - due)
        service.record(nanoseconds: now - sent)
    }

    /// A request without a response counts with the time that it has waited, so that it cannot improve the percentiles.
    mutating func unanswered(due: Int64, now: Int64) {
        latency.record(nanoseconds: now - due)
        failed(.unanswered)
    }

    mutating func failed(_ failure: Failure) { failures[failure, default: 0] += 1 }

    mutating func add(_ other: Recording) {
        latency.add(other.latency)
        service.add(other.service)
        failures.merge(other.failures, uniquingKeysWith: +)
    }
}

/// How much the generator itself falsifies a window.
struct GeneratorRecording: Sendable {
    /// From the moment at which a request could be sent, because it was due and a connection was free, until it was sent.
    var lateness = Durations()
    var times = ThreadTimes()

    mutating func add(from begin: ThreadTimes, to end: ThreadTimes) {
        times.ran += end.ran - begin.ran
        times.waited += end.waited - begin.waited
    }

    mutating func add(_ other: GeneratorRecording) {
        lateness.add(other.lateness)
        add(from: ThreadTimes(), to: other.times)
    }
}

/// Nanoseconds during which a thread ran, and during which it waited for a processor although it could run.
struct ThreadTimes: Sendable {
    var ran: Int64 = 0
    var waited: Int64 = 0

    /// The times of the calling thread, as Linux counts them; zeros on other systems.
    static var current: ThreadTimes {
        let text = FileHandle(forReadingAtPath: "/proc/thread-self/schedstat").flatMap { try? $0.readToEnd() } ?? Data()
        let numbers = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
        return numbers.count >= 2 ? ThreadTimes(ran: numbers[0], waited: numbers[1]) : ThreadTimes()
    }
}
