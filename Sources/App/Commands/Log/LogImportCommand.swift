internal import ArgumentParser
internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres
internal import Synchronization

extension Log {
    /// `humon log import`
    struct LogImportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Bring an exported log into an empty database: all of it or nothing.",
            discussion: """
                Positions, ids, times and bytes stay what they were. What does not add up is refused, and the line named. Runs with the \
                rights of the URL's user, since the sequences are set as well; missing migrations are applied first.

                EXAMPLE: humon log import humon.log.gz
                """
        )

        @Argument(help: "The file that humon log export made; - for standard input.")
        var file: String

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let settings = try await Settings.load()
            let logger = Logger.humon(settings.logLevel)
            let input = try input()
            let (header, readModels) = try await Database.with(settings, .asVisitor, logger: logger) { database in
                try await database.migrate(logger: logger)
                return try await withPostgres(database.asOwner, logger: logger) { client in
                    let header = try await GzipProcess.with(.decompress, input) { gzip in
                        let bar = Mutex<ProgressBar?>(nil)
                        return try await LogImport(client: client).read(
                            from: { try gzip.read() }, decodedBy: Backend.domainEvents, sequences: Backend.sequences
                        ) { done, total in
                            bar.withLock { bar in
                                if bar == nil { bar = ProgressBar(total: total) }
                                bar?.show(done)
                            }
                        }
                    }
                    let behind = try await Backend.readModels(client).list().filter { $0.state == .behind }
                    return (header, behind.map(\.schema))
                }
            }
            try options.output.write([
                "recorded": .count(header.lastPosition), "commands": .count(header.commands),
                "exported_at": .time(header.createdAt),
            ])
            guard !readModels.isEmpty else { return }
            options.output.note(
                "Read models are behind the log now (\(readModels.joined(separator: ", "))): humon serve brings them along, humon projections rebuild --all is faster."
            )
        }

        private func input() throws -> FileHandle {
            guard file != "-" else { return .standardInput }
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Unreadable(path: file, reason: String(cString: strerror(errno))) }
            return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }
    }
}

private struct Unreadable: Error, CustomStringConvertible {
    var path: String
    var reason: String
    var description: String { "Cannot read \(path): \(reason)" }
}
