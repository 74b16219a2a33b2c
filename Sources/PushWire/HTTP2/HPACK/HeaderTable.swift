import NIOCore

/// The static table and the dynamic table of a decoder (RFC 7541 section 2.3).
struct HeaderTable<Field: DecodedHeaderField>: Sendable {
    private var entries = CircularBuffer<Field>()
    private let fixed: [Field]
    /// The size of the dynamic table in bytes (RFC 7541 section 4.1).
    private(set) var size = 0
    private var limit = HTTP2Constants.headerTableSize

    init() { self.fixed = Field.fixed }

    /// Returns the field at an index, or `nil` if there is none. Indexes from 1 to 61 are those of the static table,
    /// and higher ones those of the dynamic table.
    func field(at index: Int) -> Field? {
        guard index > 0 else { return nil }
        if index <= self.fixed.count { return self.fixed[index - 1] }
        let position = index - self.fixed.count - 1
        return position < self.entries.count ? self.entries[offset: position] : nil
    }

    /// Inserts a field, and evicts the oldest entries that no longer fit (RFC 7541 section 4.4).
    mutating func insert(_ field: Field) {
        self.evict(toFit: self.limit - field.size)
        guard field.size <= self.limit else { return }
        self.entries.prepend(field)
        self.size += field.size
    }

    /// Applies a dynamic table size update (RFC 7541 section 6.3). Returns `true` if it is valid, and `false` if the
    /// size exceeds the announced maximum.
    mutating func resize(to limit: Int) -> Bool {
        guard limit <= HTTP2Constants.headerTableSize else { return false }
        self.limit = limit
        self.evict(toFit: limit)
        return true
    }

    private mutating func evict(toFit size: Int) {
        while self.size > max(0, size), let oldest = self.entries.popLast() {
            self.size -= oldest.size
        }
    }
}

/// The names and values of the static table (RFC 7541 appendix A), in the order of their indexes, which begin with 1.
enum StaticHeaderTable {
    static let fields: [(name: String, value: String)] = Self.names.flatMap { name, values in
        values.map { (name, $0) }
    }

    private static let names: [(String, [String])] =
        [
            (":authority", [""]), (":method", ["GET", "POST"]), (":path", ["/", "/index.html"]),
            (":scheme", ["http", "https"]), (":status", ["200", "204", "206", "304", "400", "404", "500"]),
            ("accept-charset", [""]), ("accept-encoding", ["gzip, deflate"]),
        ]
        + [
            "accept-language", "accept-ranges", "accept", "access-control-allow-origin", "age", "allow",
            "authorization", "cache-control", "content-disposition", "content-encoding", "content-language",
            "content-length", "content-location", "content-range", "content-type", "cookie", "date", "etag", "expect",
            "expires", "from", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
            "if-unmodified-since", "last-modified", "link", "location", "max-forwards", "proxy-authenticate",
            "proxy-authorization", "range", "referer", "refresh", "retry-after", "server", "set-cookie",
            "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via", "www-authenticate",
        ].map { ($0, [""]) }
}
