import GRDB

/// The reasons that one transaction writes. Each text is stored once, as a campaign has few of them.
final class ReasonLookup {
    /// The longest text in characters; a push service may send a longer one.
    private static let maximumLength = 300
    /// The most different texts in the store. A push service has a few dozen; one that invents more fills no disk.
    private static let maximumCount = 10_000
    private static let other = "another reason than the 10,000 that are known"

    private let known: [ExactText: Int64]
    /// The ids that were not known before. They are known once the transaction is on disk: an id that a failed one has added may
    /// belong to another text later.
    private(set) var found: [ExactText: Int64] = [:]

    init(known: [ExactText: Int64]) { self.known = known }

    /// Returns the id of a text, which is added if it is new.
    func id(of text: String, in database: Database) throws -> Int64 {
        let text = String(text.prefix(Self.maximumLength))
        let key = ExactText(text)
        if let id = self.known[key] ?? self.found[key] { return id }
        let id = try self.stored(text, in: database) ?? self.add(text, in: database)
        self.found[key] = id
        return id
    }

    private func stored(_ text: String, in database: Database) throws -> Int64? {
        try database.integer(sql: "SELECT id FROM reason WHERE text = ?", [text])
    }

    private func add(_ text: String, in database: Database) throws -> Int64 {
        let last = try database.integer(sql: "SELECT max(id) FROM reason") ?? 0
        let isFull = last >= Self.maximumCount
        if isFull, let other = try self.stored(Self.other, in: database) { return other }
        try database.run(sql: "INSERT INTO reason (text) VALUES (?)", [isFull ? Self.other : text])
        return database.lastInsertedRowID
    }
}
