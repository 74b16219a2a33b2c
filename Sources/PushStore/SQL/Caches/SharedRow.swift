import PushTypes

/// A value that is stored once in a row of its own, to which other rows refer by id.
protocol SharedRow: Hashable, Sendable {
    /// Returns the id of the value's row, inserting the row if there is none.
    func id(in database: any SQLConnection) throws -> Int64
}

/// Looks up the ids of shared rows within one transaction.
final class SharedRowLookup<Value: SharedRow> {
    private let known: [Value: Int64]
    /// The ids that were looked up or inserted in this transaction. They may be cached only once the transaction is
    /// committed, because an id that was inserted in a failed transaction may be assigned to another value later.
    private(set) var found: [Value: Int64] = [:]

    init(known: [Value: Int64] = [:]) { self.known = known }

    func id(of value: Value, in database: any SQLConnection) throws -> Int64 {
        if let id = self.known[value] ?? self.found[value] { return id }
        let id = try value.id(in: database)
        self.found[value] = id
        return id
    }
}

extension OpenedConnection: SharedRow {
    /// Inserts a row for the connection, and returns its id. A connection whose id is not cached has no row.
    func id(in database: any SQLConnection) throws -> Int64 {
        try database.insert(
            into: "connection",
            [
                "service": self.service, "address": self.address, "localPort": self.localPort,
                "openedAt": self.openedAt.milliseconds,
            ],
            returning: "id"
        )
    }
}

typealias ConnectionLookup = SharedRowLookup<OpenedConnection>
