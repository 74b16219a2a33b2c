public import NIOCore

/// What one end keeps of a header field.
@usableFromInline
package protocol HeaderTableField: Sendable {
    /// As RFC 7541 section 4.1 counts it.
    var size: Int { get }
    /// The static table (RFC 7541 appendix A), from position 1 on.
    static var fixed: [Self] { get }
}

/// The static and the dynamic table of a decoder (RFC 7541 section 2.3).
@usableFromInline
package struct HeaderTable<Field: HeaderTableField>: Sendable {
    /// The newest first.
    @usableFromInline var entries = CircularBuffer<Field>()
    @usableFromInline let fixed: [Field]
    /// As RFC 7541 section 4.1 counts it.
    @usableFromInline package var size = 0
    @usableFromInline var limit = HTTP2Constants.headerTableSize

    package init() {
        self.fixed = Field.fixed
    }

    /// Position 1 to 61 is the static table, then come the dynamic entries.
    @inlinable
    package func field(at index: Int) -> Field? {
        guard index > 0 else { return nil }
        if index <= self.fixed.count { return self.fixed[index - 1] }
        let position = index - self.fixed.count - 1
        return position < self.entries.count ? self.entries[offset: position] : nil
    }

    @inlinable
    package mutating func insert(_ field: Field) {
        self.evict(toFit: self.limit - field.size)
        guard field.size <= self.limit else { return }
        self.entries.prepend(field)
        self.size += field.size
    }

    /// `false` for more than we announced.
    package mutating func resize(to limit: Int) -> Bool {
        guard limit <= HTTP2Constants.headerTableSize else { return false }
        self.limit = limit
        self.evict(toFit: limit)
        return true
    }

    @inlinable
    mutating func evict(toFit size: Int) {
        while self.size > max(0, size), let oldest = self.entries.popLast() {
            self.size -= oldest.size
        }
    }
}

/// Names and values of RFC 7541 appendix A.
package enum StaticHeaderTable {
    package static let fields: [(name: String, value: String)] = Self.names.flatMap { name, values in
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
