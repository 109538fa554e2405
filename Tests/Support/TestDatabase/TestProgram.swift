internal import Foundation

/// Runs other programs to their end.
public enum TestProgram {
    public struct Failed: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Parameter path: the program
    /// - Throws: ``Failed`` with the program's errors if its status is not 0, `TimeoutError`, `CocoaError` if it cannot be started
    public static func run(_ path: String, _ arguments: [String]) async throws {
        let errors = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let status = try await process.untilEnd()
        guard status == 0 else {
            let text = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
            throw Failed(description: "\(path) ended with \(status): \(text)")
        }
    }
}
