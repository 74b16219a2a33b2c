import Foundation
import ProviderModel
import PushTypes

/// Writes receipts and their counters within one transaction.
struct ReceiptTransaction {
    private let now: Timestamp
    private let masterKey: MasterKey
    private let database: any SQLConnection
    /// The results of looking up notifications, which are `nil` for an id without a notification.
    private var notifications: [ReceiptBatch.Entry.Subject: ReceiptNotification?] = [:]
    /// The results of looking up apps, which are `nil` for a bundle id without an app.
    private var apps: [Topic: Int64?] = [:]
    private var counts: [CountKey: (unique: Int64, total: Int64)] = [:]
    /// The counter of the installations that opened a notification, by app.
    private let statistics = StatisticCounter()
    /// The names of the actions in each notification's receipts, by the number of the notification.
    private var actions: [Int64: Set<String>] = [:]
    /// The apps looked up so far, and whether an active webhook of each subscribes to receipts.
    private var wanted: [Int64: Bool] = [:]
    /// The new receipts by app, to be announced to webhooks.
    private var news: [Int64: [NewReceipt]] = [:]

    private struct CountKey: Hashable {
        var notification, event: Int64
        /// The name of the action, or an empty string for the event regardless of actions.
        var action: String
    }

    init(now: Timestamp, masterKey: MasterKey, database: any SQLConnection) {
        (self.now, self.masterKey, self.database) = (now, masterKey, database)
    }

    mutating func write(_ batch: ReceiptBatch) throws -> [ReceiptResult] {
        var acceptance = ReceiptAcceptance(batch, masterKey: self.masterKey, database: self.database)
        var app: Int64?
        if case .installation(_, let bundleID) = batch.sender {
            app = try self.app(bundleID)
            guard app != nil else { return batch.entries.map { _ in .refused(.unknownNotification) } }
        }
        return try batch.entries.map { entry in
            guard let notification = try self.notification(entry.subject) else { return .refused(.unknownNotification) }
            switch try acceptance.decide(entry.subject, notification, from: app, now: self.now) {
            case .accepted(let subject): return try self.write(entry.receipt, subject, notification, from: batch)
            case .refused(let refusal): return .refused(refusal)
            }
        }
    }

    private mutating func app(_ bundleID: Topic) throws -> Int64? {
        if let known = self.apps[bundleID] { return known }
        let found = try self.database.integer(sql: "SELECT id FROM app WHERE bundleID = ?", [bundleID.name])
        self.apps[bundleID] = .some(found)
        return found
    }

    private mutating func notification(_ subject: ReceiptBatch.Entry.Subject) throws -> ReceiptNotification? {
        let key: ReceiptBatch.Entry.Subject =
            if case .delivery(let prefix, _) = subject { .delivery(prefix, recipient: 0) } else { subject }
        if let known = self.notifications[key] { return known }
        let found = try ReceiptNotification.fetch(key, in: self.database)
        self.notifications[key] = .some(found)
        return found
    }

    private mutating func write(
        _ receipt: IncomingReceipt,
        _ found: ReceiptSubject,
        _ notification: ReceiptNotification,
        from batch: ReceiptBatch
    ) throws -> ReceiptResult {
        let (subject, earlier) = try self.joined(found, notification.number, receipt.event.rawValue)
        let id = Self.shortened(receipt.id)
        guard !earlier.contains(where: { $0.id == id }) else { return .repeated }
        guard earlier.count < ReceiptLimits.perEvent else { return .refused(.tooMany) }
        let isCounted = found.isCounted || subject < 0
        var record = ReceiptRecord(
            event: receipt.event,
            action: try receipt.action.flatMap { try self.accepted($0, of: notification.number) },
            source: batch.sender == .gateway ? .gateway : .app,
            at: min(max(receipt.at, notification.createdAt), self.now),
            receivedAt: self.now,
            device: isCounted ? nil : found.device,
            subject: subject
        )
        if isCounted { (record.at, record.receivedAt) = (Self.rounded(record.at), Self.rounded(record.receivedAt)) }
        try self.insert(record, id: id, of: notification.number)
        self.count(notification.number, record.event, "", isFirst: earlier.isEmpty)
        if record.event == .opened, earlier.isEmpty { self.statistics.addOpened(1, of: notification.app) }
        if let action = record.action {
            let isFirst = !earlier.contains { $0.action == action }
            self.count(notification.number, record.event, action, isFirst: isFirst)
        }
        if try self.isWanted(notification.app) {
            self.news[notification.app, default: []].append(
                try self.news(receipt.id, record, notification, recipient: found.recipient)
            )
        }
        return .accepted
    }

    /// Returns the identity under which an installation's receipts for one event are stored, and the earlier receipts
    /// under it. Earlier receipts of the installation under another identity count as well.
    private func joined(_ found: ReceiptSubject, _ notification: Int64, _ event: Int64) throws
        -> (subject: Int64, earlier: [(id: Int64, action: String?)])
    {
        let earlier = try self.earlier(notification, found.subject, event)
        guard earlier.isEmpty else { return (found.subject, earlier) }
        for other in found.others {
            let earlier = try self.earlier(notification, other, event)
            guard !earlier.isEmpty else { continue }
            guard found.isCounted, other > 0 else { return (other, earlier) }
            // With the stricter level of privacy, the earlier receipts of the device are made anonymous.
            try Self.round(notification, other, event: event, to: found.subject, in: self.database)
            return (found.subject, earlier)
        }
        return (found.subject, [])
    }

    private enum Column: Int, CodingKey, CaseIterable {
        case notification, subject, event, id, source, at, receivedAt, action
    }

    private static let insertion = Column.insertion(into: "receipt")

    private func insert(_ record: ReceiptRecord, id: Int64, of notification: Int64) throws {
        let row = try RowInsertion<Column>(Self.insertion, in: self.database)
        row.bind(notification, to: .notification)
        row.bind(record.subject, to: .subject)
        row.bind(record.event.rawValue, to: .event)
        row.bind(id, to: .id)
        row.bind(record.source.rawValue, to: .source)
        row.bind(record.at.milliseconds, to: .at)
        row.bind(record.receivedAt.milliseconds, to: .receivedAt)
        row.bind(record.action, to: .action)
        try row.run()
    }

    /// Returns the ids and actions of the receipts that are stored under an identity for one event.
    private func earlier(_ notification: Int64, _ subject: Int64, _ event: Int64) throws
        -> [(id: Int64, action: String?)]
    {
        let sql = "SELECT id, action FROM receipt WHERE notification = ? AND subject = ? AND event = ?"
        let statement = try self.database.prepare(sql)
        defer { statement.reset() }
        statement.bind(notification, subject, event)
        var rows: [(Int64, String?)] = []
        while try statement.step() { rows.append((statement.integer(0), statement.text(1))) }
        return rows
    }

    /// Returns `action`, or `nil` for a new name if the notification already has the maximum number of names.
    private mutating func accepted(_ action: String, of notification: Int64) throws -> String? {
        var known = self.actions[notification]
        if known == nil {
            let sql = "SELECT DISTINCT action FROM receiptCount WHERE notification = ? AND action != ''"
            known = Set(try self.database.rows(sql: sql, [notification]).compactMap { $0["action"] as String? })
        }
        var names = known ?? []
        if names.count < ReceiptLimits.actions { names.insert(action) }
        self.actions[notification] = names
        return names.contains(action) ? action : nil
    }

    private mutating func count(_ notification: Int64, _ event: ReceiptEvent, _ action: String, isFirst: Bool) {
        let key = CountKey(notification: notification, event: event.rawValue, action: action)
        self.counts[key, default: (0, 0)].total += 1
        if isFirst { self.counts[key]?.unique += 1 }
    }

    // MARK: Webhooks

    private mutating func isWanted(_ app: Int64) throws -> Bool {
        if let known = self.wanted[app] { return known }
        let isWanted = try EventBlockRow.isWanted(.receipt, app: app, in: self.database)
        self.wanted[app] = isWanted
        return isWanted
    }

    private func news(
        _ id: UUID,
        _ record: ReceiptRecord,
        _ notification: ReceiptNotification,
        recipient: Int64?
    ) throws -> NewReceipt {
        var news = NewReceipt(id: id, notification: notification.id, record: record)
        guard let device = record.device else { return news }
        news.recipient = recipient
        if recipient == nil {
            let sql = "SELECT recipient FROM delivery WHERE device = ? AND notification = ?"
            let named = try self.database.integer(sql: sql, [device, notification.number])
            news.recipient = named ?? (notification.namesTokens ? nil : device)
        }
        let sql = "SELECT token, environment, user FROM device WHERE id = ?"
        if let row = try self.database.row(sql: sql, [device]) {
            (news.token, news.environment, news.user) = (
                row.token("token"), row.environment("environment"), row["user"]
            )
        }
        return news
    }

    private enum CountColumn: Int, CodingKey, CaseIterable { case notification, event, action, uniqueCount, total }

    private static let counting = CountColumn.insertion(
        into: "receiptCount",
        """
        ON CONFLICT (notification, event, action) DO UPDATE
        SET uniqueCount = receiptCount.uniqueCount + excluded.uniqueCount, total = receiptCount.total + excluded.total
        """
    )

    /// Writes the counters and the webhook events.
    /// - Returns: Whether webhook events were written.
    func finish(announce: ([NewReceipt]) -> Data) throws -> Bool {
        for (key, count) in self.counts {
            let row = try RowInsertion<CountColumn>(Self.counting, in: self.database)
            row.bind(key.notification, to: .notification)
            row.bind(key.event, to: .event)
            row.bind(key.action, to: .action)
            row.bind(count.unique, to: .uniqueCount)
            row.bind(count.total, to: .total)
            try row.run()
        }
        let minute = StatisticStep.minute.start(of: self.now).seconds
        try StatisticCounter.write(self.statistics.apps, minute: minute, ReasonLookup(), in: self.database)
        for (app, news) in self.news {
            try EventBlockRow.add(.receipt, announce(news), app: app, now: self.now, in: self.database)
        }
        return !self.news.isEmpty
    }

    // MARK: Values

    /// Makes the receipts of a device anonymous: it replaces their identity and rounds their times. The counters stay
    /// correct. If `event` is `nil`, the receipts for all events are changed.
    static func round(
        _ notification: Int64,
        _ device: Int64,
        event: Int64?,
        to subject: Int64,
        in database: any SQLConnection
    ) throws {
        let unit = ReceiptLimits.rounding
        let sql = """
            UPDATE receipt SET subject = ?3, at = at / \(unit) * \(unit), receivedAt = receivedAt / \(unit) * \(unit)
            WHERE notification = ?1 AND subject = ?2 AND event = coalesce(?4, event)
            """
        try database.run(sql: sql, notification, device, subject, event)
    }

    private static func rounded(_ time: Timestamp) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds / ReceiptLimits.rounding * ReceiptLimits.rounding)
    }

    private static func shortened(_ id: UUID) -> Int64 {
        // The hash is FNV-1a with a final mix. It suffices to distinguish the receipts of one identity, of which there
        // are at most twenty.
        withUnsafeBytes(of: id.uuid) { bytes in
            var hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
            hash = (hash ^ hash >> 32) &* 0xd6e8_feb8_6659_fd93
            return Int64(bitPattern: hash ^ hash >> 32)
        }
    }
}
