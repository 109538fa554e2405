internal import Foundation
internal import Postgres

/// Another node leads now. The transaction's writes are rolled back.
struct LeaseLostError: Error, CustomStringConvertible {
    var description: String { "another node leads this subscription" }
}

/// The right of one node to run a subscription for a limited time, and the subscription's position.
///
/// The row of the subscription in `log.subscriptions` names its leader. Each step of the leader raises the row's number, and so does the
/// claim of another node. Only one of the two transactions can commit.
struct SubscriptionLease: Sendable {
    let subscription: String
    let leader: UUID
    let seconds: Double
    let client: PostgresClient
    /// The number that the row has since the last claim or step of this leader.
    private(set) var number: Int64
    private(set) var position: Int64

    /// Claims the lease. The same leader gets it again immediately, for example after a lost connection.
    /// - Returns: nil while another node holds the lease, or if another one was faster
    static func claim(
        _ subscription: String, leader: UUID, seconds: Double, client: PostgresClient
    ) async throws -> SubscriptionLease? {
        let rows = try await client.query(
            "SELECT number, position FROM log.claim_subscription(\(subscription), \(leader), \(seconds))")
        guard let (number, position) = try rows.decode((Int64, Int64).self).first else { return nil }
        return SubscriptionLease(
            subscription: subscription, leader: leader, seconds: seconds, client: client, number: number, position: position)
    }

    /// Does the work and moves the position, in one transaction. The move comes last: a leader that freezes in its work keeps no successor
    /// waiting.
    /// - Parameter next: the new position, up to which all events are handled or parked
    /// - Throws: ``LeaseLostError``, and the errors of the work
    mutating func step(to next: Int64, _ work: (LeasedConnection) async throws -> Void) async throws {
        let held = self
        try await client.withTransaction { transaction in
            try await work(transaction)
            try await held.move(to: next, in: transaction)
        }
        number += 1
        position = next
    }

    /// - Throws: ``LeaseLostError``
    func move(to position: Int64, in transaction: LeasedConnection) async throws {
        let rows = try await transaction.query(
            """
            UPDATE log.subscriptions SET number = number + 1, position = \(position), interruption = NULL
            WHERE name = \(subscription) AND number = \(number)
            """)
        guard rows.affected == 1 else { throw LeaseLostError() }
    }

    /// - Returns: the row's number, and whether there is nothing to do
    /// - Throws: ``LeaseLostError``
    @discardableResult
    func renew() async throws -> (number: Int64, rests: Bool) {
        let rows = try await client.query(
            """
            SELECT number, log.subscription_rests(name, position)
            FROM (\(held)) AS held CROSS JOIN LATERAL log.renew_lease(leader, \(seconds))
            """)
        guard let found = try rows.decode((Int64, Bool).self).first else { throw LeaseLostError() }
        return found
    }

    /// Gives the lease back, after the end of the work.
    /// - Parameter interruption: the error that ended the work early; empty for none
    func release(after interruption: String = "") async throws {
        try await client.run([
            """
            UPDATE log.subscriptions AS s
            SET number = s.number + 1, leader = NULL, interruption = coalesce(nullif(\(interruption), ''), s.interruption)
            FROM (\(held)) AS held WHERE s.name = held.name AND s.number = held.number
            """,
            "DELETE FROM log.leases WHERE holder = \(leader)",
        ])
    }

    /// The row of the subscription, if this node leads.
    private var held: SQL {
        """
        SELECT * FROM (
            SELECT * FROM log.subscriptions WHERE name = \(subscription) ORDER BY number DESC LIMIT 1
        ) AS newest WHERE leader = \(leader)
        """
    }
}
