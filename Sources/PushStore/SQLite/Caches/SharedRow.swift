import GRDB
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
