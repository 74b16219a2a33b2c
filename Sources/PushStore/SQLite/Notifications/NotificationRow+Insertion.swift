import Foundation
import GRDB
import PushSupport
import PushTypes

extension NotificationRow {
    /// The columns of a notification that is accepted, in the order in which ``insert(_:idempotency:opening:in:)`` binds
    /// them.
    private static let columns = [
        "id", "prefix", "app", "state", "lane", "guarantee", "audience", "environment", "topic", "pushType",
        "tokenKind", "priority", "expiration", "collapseID", "payload", "isTemplate", "delivery", "pace", "schedule",
        "runAt", "createdAt", "startsAt", "recipients", "idempotencyKey", "fingerprint", "name", "expiresIn", "key",
        "keyName", "resendOf", "receipts", "consentCategory", "ignoresQuietHours", "ignoresCap", "placeholder",
        "receivedAt", "checkedIn", "origin", "warnings", "openedAfter", "openedAt",
    ]

    private static let insertion = """
        INSERT INTO notification (\(NotificationRow.columns.joined(separator: ", ")))
        VALUES (\(NotificationRow.columns.map { _ in "?" }.joined(separator: ", ")))
        """

    /// Adds a notification.
    /// - Parameter opening: The registration clock and the time, for one that is opened as it is accepted; `nil` for any
    ///   other.
    /// - Returns: The store's own number of it.
    static func insert(
        _ notification: NotificationRecord,
        idempotency: Idempotency?,
        opening: (clock: Int64, at: Timestamp)?,
        in database: Database
    ) throws -> Int64 {
        var row = RowBinder(try RawStatement(sql: Self.insertion, in: database))
        Self.bindIdentity(of: notification, try Self.text(of: notification.audience), to: &row)
        Self.bind(notification.content, to: &row)
        row.add(try notification.delivery?.json.text)
        row.add(try notification.pace?.json.text)
        row.add(notification.run?.schedule.uuidString)
        row.add(notification.run?.at.milliseconds)
        row.add(notification.createdAt.milliseconds)
        row.add(notification.startsAt.milliseconds)
        row.add(Int64(notification.progress.recipients))
        row.add(idempotency?.key)
        row.add((idempotency?.fingerprint).map { Data($0) })
        row.add(notification.name)
        row.add(notification.content.expiresIn)
        row.add(notification.key?.id.uuidString)
        row.add(notification.key?.name)
        row.add(notification.resendOf?.uuidString)
        row.add(notification.content.receipts.rawValue)
        row.add(notification.consent.category)
        row.add(notification.consent.ignoresQuietHours ? 1 : 0)
        row.add(notification.consent.ignoresCap ? 1 : 0)
        row.add(notification.content.placeholder)
        row.add(notification.acceptance.receivedAt?.milliseconds)
        row.add(notification.acceptance.checkedIn)
        row.add(notification.acceptance.origin?.description)
        row.add(try Self.text(of: notification.acceptance.warnings))
        row.add(opening?.clock)
        row.add(opening?.at.milliseconds)
        try row.statement.run()
        return database.lastInsertedRowID
    }

    /// Adds the tokens that a notification names, or the channel.
    static func insertTargets(of notification: NotificationRecord, number: Int64, in database: Database) throws {
        let targets = notification.audience.targets
        guard !targets.isEmpty else { return }
        let sql = "INSERT INTO target (notification, position, token, environment) VALUES (?, ?, ?, ?)"
        let environment = (notification.environment ?? .production).code
        let statement = try RawStatement(sql: sql, in: database)
        for (position, token) in zip(Int64(1)..., targets) {
            statement.bind(number, position)
            statement.bind(token, at: 3)
            statement.bind(environment, at: 4)
            try statement.run()
        }
    }

    private static func bindIdentity(of notification: NotificationRecord, _ audience: String, to row: inout RowBinder) {
        row.add(notification.id.uuidString)
        row.add(DeliveryPrefix(of: notification.id).bits)
        row.add(notification.app)
        row.add(notification.state.rawValue)
        row.add(notification.lane.rawValue)
        row.add(notification.guarantee.rawValue)
        row.add(audience)
        row.add(notification.environment?.code)
    }

    private static func bind(_ content: NotificationContent, to row: inout RowBinder) {
        row.add(content.topic.name)
        row.add(content.pushType.rawValue)
        row.add(content.tokenKind?.code)
        row.add(Int64(content.priority.rawValue))
        row.add(content.expiration.header)
        row.add(content.collapseID)
        row.add(content.payload)
        row.add(content.isTemplate ? 1 : 0)
    }
}

extension Audience {
    /// The tokens that the table `target` has. A channel has one row there without a token.
    fileprivate var targets: [[UInt8]] {
        switch self {
        case .tokens(let tokens): tokens.map(\.bytes)
        case .channel: [[]]
        case .devices: []
        }
    }
}

/// Binds the columns of a row one after the other.
struct RowBinder {
    let statement: RawStatement
    private var position: Int32 = 0

    init(_ statement: RawStatement) { self.statement = statement }

    mutating func add(_ value: Int64?) {
        self.position += 1
        self.statement.bind(value, at: self.position)
    }

    mutating func add(_ text: String?) {
        self.position += 1
        self.statement.bind(text, at: self.position)
    }

    mutating func add(_ bytes: Data?) {
        self.position += 1
        self.statement.bind(bytes, at: self.position)
    }
}
