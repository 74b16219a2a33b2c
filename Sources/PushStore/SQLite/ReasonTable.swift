import GRDB
import Synchronization

/// The texts that deliveries name as their reason, each once in the store: a campaign has few of them.
final class ReasonTable: Sendable {
    /// Texts kept in memory.
    private static let maximumCount = 1000

    private let known = Mutex<[String: Int64]>([:])

    /// For one transaction.
    func lookup() -> ReasonLookup {
        ReasonLookup(known: self.known.withLock { $0 })
    }

    /// What a transaction has looked up, once it is on disk: an id that was added in one that failed is gone again, and
    /// may stand for another text then.
    func remember(_ found: [String: Int64]) {
        guard !found.isEmpty else { return }
        self.known.withLock { known in
            if known.count + found.count > Self.maximumCount { known = [:] }
            known.merge(found) { $1 }
        }
    }
}

/// The reasons that one transaction names.
final class ReasonLookup {
    /// Longest text, in characters; what a push service sends may be longer.
    private static let maximumLength = 300
    /// Different texts in the store. A push service has a few dozen; one that makes up more does not fill the disk.
    private static let maximumCount = 10_000
    private static let other = "another reason than the 10,000 that are known"

    private let known: [String: Int64]
    /// What was not known before.
    private(set) var found: [String: Int64] = [:]

    init(known: [String: Int64]) {
        self.known = known
    }

    /// The id of a text, which is added if it is new.
    func id(of text: String, in database: Database) throws -> Int64 {
        let text = String(text.prefix(Self.maximumLength))
        if let id = self.known[text] ?? self.found[text] { return id }
        let id = try self.stored(text, in: database) ?? self.add(text, in: database)
        self.found[text] = id
        return id
    }

    private func stored(_ text: String, in database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT id FROM reason WHERE text = ?", arguments: [text])
    }

    private func add(_ text: String, in database: Database) throws -> Int64 {
        let last = try Int64.fetchOne(database, sql: "SELECT max(id) FROM reason") ?? 0
        let isFull = last >= Self.maximumCount
        if isFull, let other = try self.stored(Self.other, in: database) { return other }
        try database.execute(sql: "INSERT INTO reason (text) VALUES (?)", arguments: [isFull ? Self.other : text])
        return database.lastInsertedRowID
    }
}
