import GRDB
import PushTypes

/// A value that is stored once, in a row by whose id others name it.
protocol SharedRow: Hashable, Sendable {
    /// Returns the id of the row, which is added if there is none.
    func id(in database: Database) throws -> Int64
}

/// The shared rows that one transaction names.
final class SharedRowLookup<Value: SharedRow> {
    private let known: [Value: Int64]
    /// The ids that were not known before. They are known once the transaction is on disk: an id that a failed one has added may
    /// belong to another value later.
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

/// The reason of a delivery, of which a campaign has few.
struct DeliveryReason: SharedRow {
    /// The longest text in characters; a push service may send a longer one.
    private static let maximumLength = 300
    /// The most different texts in the store. A push service has a few dozen; one that invents more fills no disk.
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
    /// Adds the connection, which has no row as long as its id is not known.
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

/// The transmission of a push in one number: the id of its connection, and the milliseconds up to the outcome.
enum StoredTrip {
    private static let bits: Int64 = 17
    private static let most: Int64 = 1 << StoredTrip.bits - 1

    /// Returns the number.
    /// - Parameter connection: The id of the connection; 0 for none.
    static func number(connection: Int64, milliseconds: Int32) -> Int64 {
        connection << Self.bits | min(max(0, Int64(milliseconds)), Self.most)
    }

    /// Returns the parts of a number; the time is `nil` where it was too long to be kept.
    static func parts(_ number: Int64) -> (connection: Int64, milliseconds: Int?) {
        let time = number & Self.most
        return (number >> Self.bits, time == Self.most ? nil : Int(time))
    }
}
