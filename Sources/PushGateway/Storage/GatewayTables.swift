import Foundation
import GRDB
import NIOCore
import PushTypes

/// The tables of the gateway within one transaction.
///
/// Code outside of this folder receives a value of this type from ``GatewayDatabase`` and does not depend on SQLite.
struct GatewayTables {
    let database: Database

    var credentials: CredentialTables { CredentialTables(database: self.database) }
    var channels: ChannelTable { ChannelTable(database: self.database) }
    var devices: DeviceTable { DeviceTable(database: self.database) }
    var events: EventTable { EventTable(database: self.database) }

    func feedback(_ environment: PushEnvironment) -> FeedbackTable {
        FeedbackTable(database: self.database, environment: environment)
    }

    func messages(_ environment: PushEnvironment) -> MessageTable {
        MessageTable(database: self.database, environment: environment)
    }

    func broadcasts(_ environment: PushEnvironment) -> BroadcastTables {
        BroadcastTables(database: self.database, environment: environment)
    }

    /// The tables whose rows belong to one environment, and whose numbers of rows are shown as gauges.
    enum Counted: String {
        case message, subscription, channel, feedback
    }

    func count(_ table: Counted, in environment: PushEnvironment) throws -> Int {
        let sql = "SELECT count(*) FROM \(table.rawValue) WHERE environment = ?"
        return try self.database.integer(sql, [environment.rawValue]) ?? 0
    }

    /// Returns the highest sequence number in the tables of messages, broadcasts and subscriptions, or 0 if there is
    /// none.
    func lastSequence() throws -> Int64 {
        try Int64.fetchOne(
            self.database,
            sql: """
                SELECT max(s) FROM (
                    SELECT max(sequence) s FROM message UNION SELECT max(sequence) FROM channelMessage
                    UNION SELECT max(lastSequence) FROM subscription
                )
                """
        ) ?? 0
    }
}

extension Database {
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try self.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(self.cachedStatement(sql: sql), arguments: arguments)
    }

    func integer(_ sql: String, _ arguments: StatementArguments = []) throws -> Int? {
        try Int.fetchOne(self.cachedStatement(sql: sql), arguments: arguments)
    }
}

/// Reads columns as the gateway's types. Each method returns `nil` for a value that the gateway would not have written.
extension Row {
    func topic(_ column: String) -> Topic? { (self[column] as String?).flatMap { Topic($0) } }

    /// Parses a list of topics that are separated by spaces. A topic contains no space.
    func topics(_ column: String) -> Set<Topic> {
        Set((self[column] as String? ?? "").split(separator: " ").compactMap { Topic($0) })
    }

    func timestamp(_ column: String) -> Timestamp? { (self[column] as Int64?).map(Timestamp.init(milliseconds:)) }

    func environment() -> PushEnvironment? { (self["environment"] as String?).flatMap(PushEnvironment.init(rawValue:)) }

    func token(_ column: String) -> DeviceToken? { (self[column] as Data?).flatMap { DeviceToken(bytes: Array($0)) } }

    func textID(_ column: String) -> UUID? { (self[column] as String?).flatMap(UUID.init(uuidString:)) }

    /// Parses an id that is stored as 16 bytes. Returns `nil` for any other value.
    func binaryID(_ column: String) -> UUID? {
        (self[column] as Data?).flatMap { data in
            data.count == 16 ? data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } : nil
        }
    }

    func integer<Value: FixedWidthInteger>(_ column: String) -> Value? {
        (self[column] as Int64?).flatMap(Value.init(exactly:))
    }

    /// Returns the priority of a message, or ``Priority/immediate`` for an invalid value.
    func priority() -> Priority { self.integer("priority").flatMap(Priority.init(rawValue:)) ?? .immediate }

    /// Returns the columns that messages and broadcasts have in common, or `nil` if one of them has an invalid value.
    func stored() -> (sequence: Int64, payload: ByteBuffer, acceptedAt: Timestamp, expiresAt: Timestamp)? {
        guard let sequence = self["sequence"] as Int64?, let payload = self["payload"] as Data?,
            let acceptedAt = self.timestamp("acceptedAt"), let expiresAt = self.timestamp("expiresAt")
        else { return nil }
        return (sequence, ByteBuffer(bytes: payload), acceptedAt, expiresAt)
    }
}
