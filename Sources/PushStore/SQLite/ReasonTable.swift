import GRDB
import Synchronization

/// The texts that deliveries name as their reason, each once in the store: a campaign has few of them.
final class ReasonTable: Sendable {
    /// Longest text, in characters; what a push service sends may be longer.
    private static let maximumLength = 300
    /// Texts kept in memory.
    private static let maximumCount = 1000

    private let known = Mutex<[String: Int64]>([:])

    /// The id of a text, which is added if it is new.
    ///
    /// It is remembered once the transaction is on disk: an id that was added in one that failed is gone again.
    func id(of text: String?, in database: Database) throws -> Int64? {
        guard let text = text.map({ String($0.prefix(Self.maximumLength)) }) else { return nil }
        if let id = self.known.withLock({ $0[text] }) { return id }
        let id: Int64
        if let found = try Int64.fetchOne(database, sql: "SELECT id FROM reason WHERE text = ?", arguments: [text]) {
            id = found
        } else {
            try database.execute(sql: "INSERT INTO reason (text) VALUES (?)", arguments: [text])
            id = database.lastInsertedRowID
        }
        database.afterNextTransaction { _ in self.remember(text, id) }
        return id
    }

    private func remember(_ text: String, _ id: Int64) {
        self.known.withLock { known in
            if known.count >= Self.maximumCount { known = [:] }
            known[text] = id
        }
    }
}
