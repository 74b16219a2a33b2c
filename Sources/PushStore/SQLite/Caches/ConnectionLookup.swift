import GRDB
import PushTypes

/// The connections that one transaction writes. Each is stored once.
final class ConnectionLookup {
    private let known: [OpenedConnection: Int64]
    /// The ids that were not known before. They are known once the transaction is on disk.
    private(set) var found: [OpenedConnection: Int64] = [:]

    init(known: [OpenedConnection: Int64]) { self.known = known }

    /// Returns the id of a connection, which is added if it is new.
    func id(of connection: OpenedConnection, in database: Database) throws -> Int64 {
        if let id = self.known[connection] ?? self.found[connection] { return id }
        let id = try database.insert(
            into: "connection",
            [
                "service": connection.service, "address": connection.address, "localPort": connection.localPort,
                "openedAt": connection.openedAt.milliseconds,
            ]
        )
        self.found[connection] = id
        return id
    }
}

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
