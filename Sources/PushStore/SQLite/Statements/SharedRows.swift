import GRDB
import Synchronization

/// A value that is stored once, in a row by whose id others name it.
protocol SharedRow: Hashable, Sendable {
    /// Returns the id of the row, which is added if there is none.
    func id(in database: Database) throws -> Int64
}

/// The ids of shared rows that are kept in memory.
final class SharedRows<Value: SharedRow>: Sendable {
    private let known = Mutex<[Value: Int64]>([:])

    /// Returns the rows for one transaction.
    func lookup() -> SharedRowLookup<Value> { SharedRowLookup(known: self.known.withLock { $0 }) }

    /// Keeps the ids that a transaction has found, once that is on disk: an id that a failed transaction has added may
    /// belong to another value later.
    func remember(_ found: [Value: Int64]) {
        guard !found.isEmpty else { return }
        self.known.withLock { known in
            // Bounds the memory.
            if known.count + found.count > 1000 { known = [:] }
            known.merge(found) { $1 }
        }
    }
}

/// The shared rows that one transaction names.
final class SharedRowLookup<Value: SharedRow> {
    private let known: [Value: Int64]
    /// The ids that were not known before.
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
