import GRDB
import ProviderModel
import PushTypes

/// A value that is stored in a single row, to which other rows refer by its id.
protocol SharedRow: Hashable, Sendable {
    /// Returns the id of the row, which is added if there is none.
    func id(in database: Database) throws -> Int64
}

/// Looks up the ids of shared rows within one transaction.
final class SharedRowLookup<Value: SharedRow> {
    private let known: [Value: Int64]
    /// The ids that were not in memory before. They may be kept in memory once the transaction is on disk. If the
    /// transaction fails, an id that it has added may belong to another value later.
    private(set) var found: [Value: Int64] = [:]

    init(known: [Value: Int64] = [:]) { self.known = known }

    /// Returns the id of a row, which is added if it is new.
    func id(of value: Value, in database: Database) throws -> Int64 {
        if let id = self.known[value] ?? self.found[value] { return id }
        let id = try value.id(in: database)
        self.found[value] = id
        return id
    }
}

/// The reason of a delivery's state. A campaign has few different reasons.
struct DeliveryReason: SharedRow {
    /// The maximum length of a text, in characters. Longer reasons of a push service are truncated.
    private static let maximumLength = 300
    /// The maximum number of different texts in the store. Push services use a few dozen. The maximum bounds the store
    /// if a push service sends arbitrary texts.
    private static let maximumCount = 10_000
    private static let other = "another reason than the 10,000 that are known"

    private let text: BytewiseString

    init(_ text: String) { self.text = BytewiseString(String(text.prefix(Self.maximumLength))) }

    func id(in database: Database) throws -> Int64 {
        func stored(_ text: String) throws -> Int64? {
            try database.integer(sql: "SELECT id FROM reason WHERE text = ?", [text])
        }
        if let id = try stored(self.text.text) { return id }
        let isFull = try database.count(sql: "SELECT max(id) FROM reason") >= Self.maximumCount
        if isFull, let other = try stored(Self.other) { return other }
        return try database.insert(into: "reason", ["text": isFull ? Self.other : self.text.text])
    }
}

typealias ReasonLookup = SharedRowLookup<DeliveryReason>

extension OpenedConnection: SharedRow {
    /// Adds a row for the connection, which has none as long as its id is not in memory.
    func id(in database: Database) throws -> Int64 {
        try database.insert(
            into: "connection",
            [
                "service": self.service, "address": self.address, "localPort": self.localPort,
                "openedAt": self.openedAt.milliseconds,
            ]
        )
    }
}

typealias ConnectionLookup = SharedRowLookup<OpenedConnection>

/// Encodes a ``PushTrip`` in one number: the id of its connection, and the milliseconds until the outcome.
enum StoredTrip {
    private static let bits: Int64 = 17
    private static let most: Int64 = 1 << StoredTrip.bits - 1

    /// Returns the number that encodes a trip.
    /// - Parameter connection: The id of the connection; 0 for none.
    static func number(connection: Int64, milliseconds: Int32) -> Int64 {
        connection << Self.bits | min(max(0, Int64(milliseconds)), Self.most)
    }

    /// Returns the connection and the time that a number encodes. The time is `nil` if it was too long to be encoded.
    static func parts(_ number: Int64) -> (connection: Int64, milliseconds: Int?) {
        let time = number & Self.most
        return (number >> Self.bits, time == Self.most ? nil : Int(time))
    }
}
