import GRDB
import PushTypes
import Synchronization

/// The ids of the connections that carried pushes. Each connection is stored once.
final class ConnectionTable: Sendable {
    /// The most connections that are kept in memory.
    private static let maximumCount = 1000

    private let known = Mutex<[OpenedConnection: Int64]>([:])

    /// Returns the connections for one transaction.
    func lookup() -> ConnectionLookup { ConnectionLookup(known: self.known.withLock { $0 }) }

    /// Keeps the ids that a transaction has added, once that is on disk.
    func remember(_ found: [OpenedConnection: Int64]) {
        guard !found.isEmpty else { return }
        self.known.withLock { known in
            if known.count + found.count > Self.maximumCount { known = [:] }
            known.merge(found) { $1 }
        }
    }
}

/// The connections that one transaction writes.
final class ConnectionLookup {
    private let known: [OpenedConnection: Int64]
    /// The ids that were not known before.
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
