import Accounts

@testable import Tasks

let ann = AccountID(rawValue: 7)
let bob = AccountID(rawValue: 8)

extension AccountTask {
    static let milk = AccountTask(
        id: TaskID(rawValue: 12), version: 3, account: ann, title: "Buy milk", isCompleted: false)
}
