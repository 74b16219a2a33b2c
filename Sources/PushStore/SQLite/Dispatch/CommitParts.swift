import Foundation
import GRDB
import PushTypes

/// The parts that the pages of one transaction share.
final class CommitParts {
    let reasons: ReasonLookup
    let connections: ConnectionLookup
    let statistics = StatisticCounter()
    /// The leases whose shards have ended.
    private var fences: Set<Int64> = []
    /// The apps of notifications that have ended.
    private var apps: Set<Int64> = []

    /// - Parameters:
    ///   - reasons: The ids of the reasons that are known.
    ///   - connections: The ids of the connections that are known.
    init(reasons: [ExactText: Int64], connections: [OpenedConnection: Int64]) {
        (self.reasons, self.connections) = (ReasonLookup(known: reasons), ConnectionLookup(known: connections))
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
    private var numbers: (Int64, Int64, Int64, Int64, Int64) = (0, 0, 0, 0, 0)

    mutating func add(_ state: DeliveryRecord.State) {
        switch state {
        case .sending: break
        case .accepted: self.numbers.0 += 1
        case .rejected: self.numbers.1 += 1
        case .failed: self.numbers.2 += 1
        case .skipped: self.numbers.3 += 1
        case .unknown: self.numbers.4 += 1
        }
    }

    fileprivate var all: [Int64] {
        [self.numbers.0, self.numbers.1, self.numbers.2, self.numbers.3, self.numbers.4]
    }
}

extension RawStatement {
    /// Binds the numbers at five positions, in their order.
    func bind(_ counts: OutcomeCounts, at position: Int32) {
        for (offset, number) in zip(Int32(0)..., counts.all) { self.bind(number, at: position + offset) }
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

    /// Writes the state unless the recipient has a final one.
    /// - Returns: `true` if it was written.
    func write(_ reasons: ReasonLookup, in database: Database) throws -> Bool {
        let delivery = self.delivery
        let reason = try delivery.reason.map { try reasons.id(of: $0, in: database) }
        let sql = """
            INSERT INTO delivery (notification, recipient, state, attempts, at, reason, device, trip)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (notification, recipient) DO UPDATE
            SET state = excluded.state, attempts = excluded.attempts, at = excluded.at, reason = excluded.reason,
                trip = excluded.trip
            WHERE delivery.state = 0 AND excluded.state != 0
            """
        let (state, attempts, at) = (delivery.state.rawValue, Int64(delivery.attempts), delivery.at.milliseconds)
        let (number, recipient) = (self.notification, delivery.recipient)
        return try database.run(sql: sql, number, recipient, state, attempts, at, reason, self.device, self.trip) > 0
    }
}

/// A block of events for webhooks.
enum EventBlockRow {
    /// Adds a block.
    /// - Returns: Its id.
    static func add(_ events: Data, app: Int64, now: Timestamp, in database: Database) throws -> Int64 {
        let kind = WebhookRecord.Event.delivery.rawValue
        let values: Columns = ["app": app, "kind": kind, "at": now.milliseconds, "events": events]
        return try database.insert(into: "eventBlock", values)
    }
}
