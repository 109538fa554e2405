internal import Encoding
internal import EventStore
internal import Events
internal import Postgres
internal import Users

/// The read model of comments. An erasure deletes the author's rows.
struct CommentsProjection: Projection {
    static let name = "comments"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = ["text"]

    struct Row: Sendable, Hashable {
        var comments: CommentStream
        var number: Int32
        var recordedAt: Timestamp
        var text: String
    }

    struct Changes: Sendable, Hashable {
        var added: [Row] = []
        var ended: [CommentStream] = []
    }

    static let tables =
        """
        CREATE TABLE comments (
            event_id bigint NOT NULL,
            author_id bigint NOT NULL,
            number integer NOT NULL,
            recorded_at timestamptz NOT NULL,
            text text NOT NULL,
            PRIMARY KEY (event_id, author_id, number)
        );
        """

    static let indexes =
        """
        CREATE INDEX comments_of_event ON comments (event_id, recorded_at, author_id, number);
        CREATE INDEX comments_of_author ON comments (author_id, event_id);
        """

    func fold(_ envelopes: [EventEnvelope<CommentDomainEvent>]) -> Changes {
        var changes = Changes()
        for envelope in envelopes {
            guard let comments = CommentStream(envelope.stream) else { continue }
            switch envelope.event {
            case .added(.erased): continue
            case .added(.present(let text)):
                changes.added.append(
                    Row(comments: comments, number: envelope.version, recordedAt: envelope.recordedAt, text: text))
            case .erased: changes.ended.append(comments)
            }
        }
        let ended = Set(changes.ended)
        changes.added.removeAll { ended.contains($0.comments) }
        return changes
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        var writes: [Write] = []
        if !changes.added.isEmpty { writes.append(.insert(Self.layout.insertion(of: changes.added, in: schema))) }
        if !changes.ended.isEmpty {
            let (events, authors) = (changes.ended.map(\.event.rawValue), changes.ended.map(\.author.rawValue))
            writes.append(
                .run(
                    """
                    DELETE FROM \(identifier: schema).comments USING unnest(\(events), \(authors)) AS ended (event, author)
                    WHERE event_id = event AND author_id = author
                    """))
        }
        return writes
    }

    private static let layout = RowLayout<Row>(
        table: "comments",
        [
            .init("event_id") { $0.comments.event.rawValue }, .init("author_id") { $0.comments.author.rawValue },
            .init("number") { $0.number }, .init("recorded_at") { $0.recordedAt }, .init("text") { $0.text },
        ])
}
