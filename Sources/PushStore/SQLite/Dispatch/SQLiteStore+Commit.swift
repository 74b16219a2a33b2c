import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage {
        let owner = try await self.owner.number(self.database)
        return try await self.pageWriter.write(to: self.database, now: now) { parts, database in
            let begun = try PageCommit(page, begins: true, owner: owner, now: now, parts: parts, in: database)?.run()
            return begun ?? StartedPage(result: .leaseLost, started: [])
        }
    }

    package func write(_ writes: LedgerWrites, now: Timestamp, leaseUntil: Timestamp) async throws -> LedgerResults {
        let owner = try await self.owner.number(self.database)
        return try await self.pageWriter.write(to: self.database, now: now) { parts, database in
            var acceptance = AcceptanceTransaction(owner: owner, leaseUntil: leaseUntil, in: database)
            let requests = try writes.requests.map { try acceptance.accept($0) }
            let pages = try writes.pages.map { page in
                try Self.commit(page, owner: owner, now: now, parts: parts, in: database)
            }
            return LedgerResults(requests: requests, pages: pages)
        }
    }

    private static func commit(
        _ page: PageResult,
        owner: Int64,
        now: Timestamp,
        parts: CommitParts,
        in database: Database
    ) throws -> CommitResult {
        // They are the app's, also where the notification is gone.
        for request in page.environmentPauses { _ = try EnvironmentPauses.write(request, now: now, in: database) }
        if let whole = try WholePageCommit(page, owner: owner, now: now, parts: parts, in: database) {
            try whole.run()
            return .inProgress
        }
        let commit = try PageCommit(page, begins: false, owner: owner, now: now, parts: parts, in: database)
        return try commit?.run().result ?? .leaseLost
    }
}

/// The writer of pages and of what is accepted with them, with what it keeps in memory from one transaction to the next.
final class PageWriter: Sendable {
    private let reasons = SharedRows<DeliveryReason>()
    private let connections = SharedRows<OpenedConnection>()
    /// The numbers for charts that are to be written.
    private let statistics = PendingStatistics()

    /// Runs `body` in a transaction, with the parts that its pages share.
    func write<Value: Sendable>(
        to store: StoreDatabase,
        now: Timestamp,
        _ body: @Sendable (CommitParts, Database) throws -> Value
    ) async throws -> Value {
        let (value, statistics, reasons, connections) = try await store.write { database in
            let parts = CommitParts(reasons: self.reasons.lookup(), connections: self.connections.lookup())
            let value = try body(parts, database)
            try parts.end(in: database)
            return (value, parts.statistics.apps, parts.reasons.found, parts.connections.found)
        }
        self.statistics.add(statistics, now: now)
        self.reasons.remember(reasons)
        self.connections.remember(connections)
        return value
    }

    /// Writes the numbers for charts.
    func writeStatistics(to store: StoreDatabase) async throws {
        let numbers = self.statistics.take()
        guard !numbers.isEmpty else { return }
        do {
            let reasons = try await store.write { database in
                let reasons = self.reasons.lookup()
                for (minute, apps) in numbers {
                    try StatisticCounter.write(apps, minute: minute, reasons, in: database)
                }
                return reasons.found
            }
            self.reasons.remember(reasons)
        } catch {
            self.statistics.add(numbers)
            throw error
        }
    }
}

/// The parts that the pages of one transaction share.
final class CommitParts {
    let reasons: ReasonLookup
    let connections: ConnectionLookup
    let statistics = StatisticCounter()
    /// The leases whose shards have ended.
    private var fences: Set<Int64> = []
    /// The apps of notifications that have ended.
    private var apps: Set<Int64> = []

    init(reasons: ReasonLookup, connections: ConnectionLookup) {
        (self.reasons, self.connections) = (reasons, connections)
    }

    /// Notes that a notification has ended with a shard.
    func ended(_ fence: Int64, of app: Int64) {
        self.fences.insert(fence)
        self.apps.insert(app)
    }

    /// Ends the leases that hold nothing any more, and forgets the registrations that no notification needs.
    func end(in database: Database) throws {
        for fence in self.fences { try Leases.end(fence, in: database) }
        for app in self.apps {
            _ = try RegistrationChanges.forget(app: app, limit: Completion.forgottenAtOnce, in: database)
        }
    }
}

/// The numbers of accepted, rejected, failed, skipped and unknown recipients.
struct OutcomeCounts {
    fileprivate var numbers = SIMD8<Int64>()

    mutating func add(_ state: DeliveryRecord.State) {
        if let place = state.place { self.numbers[place] += 1 }
    }
}

extension DeliveryRecord.State {
    /// The place of a final state in the order of the counters, which is that of the codes; `nil` for ``sending``.
    var place: Int? { self == .sending ? nil : Int(self.rawValue) - 1 }
}

extension RawStatement {
    /// Binds the numbers at five positions, in their order.
    func bind(_ counts: OutcomeCounts, at position: Int32) {
        for place in 0..<5 { self.bind(counts.numbers[place], at: position + Int32(place)) }
    }
}

/// The row of a recipient's state.
struct DeliveryRow {
    private let delivery: DeliveryResult
    private let notification: Int64
    private let device: Int64?
    private let trip: Int64?

    init(_ delivery: DeliveryResult, of notification: Int64, lane: NotificationRecord.Lane, trip: Int64?) {
        (self.delivery, self.notification, self.trip) = (delivery, notification, trip)
        // Elsewhere the recipient is the device.
        self.device = lane == .urgent || delivery.recipient < 0 ? delivery.device : nil
    }

    private enum Column: Int, CodingKey, CaseIterable {
        case notification, recipient, state, attempts, at, reason, device, trip
    }

    private static let insertion = Column.insertion(
        into: "delivery",
        """
        ON CONFLICT (notification, recipient) DO UPDATE
        SET state = excluded.state, attempts = excluded.attempts, at = excluded.at, reason = excluded.reason,
            trip = excluded.trip
        WHERE delivery.state = 0 AND excluded.state != 0
        """
    )

    /// Writes the state unless the recipient has a final one.
    /// - Returns: `true` if it was written.
    func write(_ reasons: ReasonLookup, in database: Database) throws -> Bool {
        let reason = try self.delivery.reason.map { try reasons.id(of: DeliveryReason($0), in: database) }
        let row = try RowInsertion<Column>(Self.insertion, in: database)
        row.bind(self.notification, to: .notification)
        row.bind(self.delivery.recipient, to: .recipient)
        row.bind(self.delivery.state.rawValue, to: .state)
        row.bind(Int64(self.delivery.attempts), to: .attempts)
        row.bind(self.delivery.at.milliseconds, to: .at)
        row.bind(reason, to: .reason)
        row.bind(self.device, to: .device)
        row.bind(self.trip, to: .trip)
        return try row.run() > 0
    }
}
