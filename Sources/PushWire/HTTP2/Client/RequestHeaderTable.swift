/// The client's copy of the server's dynamic table (RFC 7541 section 2.3.2).
///
/// Entries are added until the table is full and never evicted: the server keeps it small, and the entries are the few
/// that every push repeats.
struct RequestHeaderTable {
    /// The number of entries of the static table.
    private static let staticCount = 61

    /// Changes whenever positions change.
    private(set) var generation = 0
    private var limit: Int
    private var used = 0
    private var count = 0
    private var fields: [Field: Int] = [:]
    private var names: [String: Int] = [:]
    /// Indicates whether the next block must begin with ``takeResize()``.
    private(set) var hasPendingResize = false

    /// An entry of the table.
    private struct Field: Hashable {
        var name: String
        var value: String
    }

    init(limit: Int) {
        self.limit = limit
    }

    /// Empties the table on both ends and sets its size, at the start of the next header block.
    mutating func reset(limit: Int) {
        guard limit != self.limit else { return }
        self = Self(limit: limit, generation: self.generation + 1)
    }

    private init(limit: Int, generation: Int) {
        (self.limit, self.generation) = (limit, generation)
        self.hasPendingResize = true
    }

    /// Returns the position of an entry with this name and value.
    func position(of name: String, _ value: String) -> Int? {
        self.fields[Field(name: name, value: value)].map(self.position)
    }

    /// Returns the position of the newest entry with this name.
    func position(of name: String) -> Int? {
        self.names[name].map(self.position)
    }

    func hasRoom(for name: String, _ value: String) -> Bool {
        self.used + Self.size(name, value) <= self.limit
    }

    mutating func insert(_ name: String, _ value: String) {
        self.fields[Field(name: name, value: value)] = self.count
        self.names[name] = self.count
        self.used += Self.size(name, value)
        self.count += 1
        self.generation += 1
    }

    /// Returns the table size updates that must begin the next header block (RFC 7541 section 4.2): to zero, which
    /// empties the table, and to the new limit.
    mutating func takeResize() -> [UInt8] {
        guard self.hasPendingResize else { return [] }
        self.hasPendingResize = false
        var bytes: [UInt8] = [0x20]
        if self.limit > 0 { bytes.appendInteger(self.limit, prefix: 5, pattern: 0x20) }
        return bytes
    }

    private func position(_ insertion: Int) -> Int {
        Self.staticCount + self.count - insertion
    }

    private static func size(_ name: String, _ value: String) -> Int {
        name.utf8.count + value.utf8.count + 32
    }
}
