import Foundation
import ProviderModel
import PushTypes

/// Writes token events within one transaction, and queues them for webhooks.
struct TokenEventWriter {
    private enum Column: Int, CodingKey, CaseIterable {
        case app, device, token, environment, action, reason, notification, since, at
    }

    private static let insertion = Column.insertion(into: "tokenEvent", "RETURNING id")

    let app: Int64
    let now: Timestamp
    let database: any SQLConnection
    private let written = Written()

    /// The ids of the events that this transaction has written, in rising order.
    private final class Written {
        var ids: [Int64] = []
    }

    init(app: Int64, now: Timestamp, in database: any SQLConnection) {
        (self.app, self.now, self.database) = (app, now, database)
    }

    /// Writes a token event.
    /// - Parameters:
    ///   - reason: The reason for the event, such as that of the push service, or `nil` if there is none.
    ///   - notification: The notification that led to the event, or `nil` if none did.
    ///   - since: The time since which the token is invalid for a withheld deactivation, or `nil` for any other event.
    func add(
        _ action: TokenEventRecord.Action,
        device: Int64,
        token: DeviceToken,
        environment: PushEnvironment,
        reason: String? = nil,
        notification: UUID? = nil,
        since: Timestamp? = nil
    ) throws {
        let row = try RowInsertion<Column>(Self.insertion, in: self.database)
        row.bind(self.app, to: .app)
        row.bind(device, to: .device)
        row.bind(token.bytes, to: .token)
        row.bind(environment.code, to: .environment)
        row.bind(action.rawValue, to: .action)
        row.bind(reason, to: .reason)
        row.bind(notification?.uuidString, to: .notification)
        row.bind(since?.milliseconds, to: .since)
        row.bind(self.now.milliseconds, to: .at)
        self.written.ids.append(try row.id())
    }

    /// The maximum number of token events in a block. A block is never divided between requests to a webhook.
    private static let maximumAnnounced: Int64 = 4096

    /// Inserts blocks with the events of this transaction, if any webhook of the app subscribes to token events. Ids
    /// between them may be those of another transaction, so each block has successive ones.
    func announce() throws {
        guard !self.written.ids.isEmpty, try EventBlockRow.isWanted(.token, app: self.app, in: self.database)
        else { return }
        let sql = """
            INSERT INTO eventBlock (app, kind, at, events, firstToken, lastToken)
            VALUES (:app, 'token', :at, x'', :first, :last)
            """
        for ids in self.successive {
            let block: SQLArguments = [
                "app": self.app, "at": self.now.milliseconds, "first": ids.lowerBound, "last": ids.upperBound,
            ]
            try self.database.run(sql: sql, block)
        }
    }

    private var successive: [ClosedRange<Int64>] {
        self.written.ids.reduce(into: []) { ranges, id in
            if let last = ranges.last, id == last.upperBound + 1, Int64(last.count) < Self.maximumAnnounced {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                ranges.append(id...id)
            }
        }
    }

    /// Returns the events of an app in a range of ids, without those that cannot be decoded.
    static func fetch(_ ids: ClosedRange<Int64>, app: Int64, in database: any SQLConnection) throws
        -> [TokenEventRecord]
    {
        let sql = "SELECT * FROM tokenEvent WHERE id BETWEEN ? AND ? AND app = ? ORDER BY id"
        return try database.records(sql: sql, [ids.lowerBound, ids.upperBound, app])
    }
}

extension TokenEventRecord: StoredRecord {
    static let table = "tokenEvent"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            device: try row.get("device"),
            token: try row.get("token"),
            environment: try row.get("environment"),
            action: try row.get(raw: "action"),
            reason: row["reason"],
            notification: row["notification"],
            at: try row.get("at")
        )
    }
}
