import Accounts
import Encoding
import EventStore
import Foundation

@testable import Tasks

let ann = AccountID(rawValue: 7)
let bob = AccountID(rawValue: 8)

extension AccountTask {
    static let milk = AccountTask(
        id: TaskID(rawValue: 12), version: 3, account: ann, title: "Buy milk", isCompleted: false)
}

func envelope(_ event: TaskDomainEvent, _ stream: String = "task-12", version: Int32) -> EventEnvelope<TaskDomainEvent> {
    EventEnvelope(
        id: UUID(derivedFrom: "\(stream) \(version)"), stream: StreamName(stream), version: version,
        recordedAt: Timestamp(milliseconds: 1_000), metadata: Metadata(requestID: "request-1", actor: nil, traceID: nil),
        event: event)
}
