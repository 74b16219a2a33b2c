import NIOCore

/// One header field of a reply, as far as it matters.
struct ReplyField: Sendable {
    enum Name: Sendable {
        case status, id, uniqueID, retryAfter, other

        init(_ bytes: [UInt8]) {
            switch bytes.count {
            case 7 where bytes.elementsEqual(":status".utf8): self = .status
            case 7 where bytes.elementsEqual("apns-id".utf8): self = .id
            case 14 where bytes.elementsEqual("apns-unique-id".utf8): self = .uniqueID
            case 11 where bytes.elementsEqual("retry-after".utf8): self = .retryAfter
            default: self = .other
            }
        }
    }

    let name: Name
    let nameLength: Int
    let valueLength: Int
    /// Of `:status`, else 0.
    let number: Int
    /// Of the other names that matter.
    let text: String?

    /// RFC 7541 section 4.1.
    var size: Int { self.nameLength + self.valueLength + 32 }

    init(name: Name, nameLength: Int, value: [UInt8]) {
        self.name = name
        self.nameLength = nameLength
        self.valueLength = value.count
        switch name {
        case .status:
            self.number = Self.status(value)
            self.text = nil
        case .id, .uniqueID, .retryAfter:
            self.number = 0
            self.text = String(decoding: value, as: UTF8.self)
        case .other:
            self.number = 0
            self.text = nil
        }
    }

    func apply(to head: inout ReplyHead) {
        switch self.name {
        case .status: head.status = self.number
        case .id: head.id = self.text
        case .uniqueID: head.uniqueID = self.text
        case .retryAfter: head.retryAfter = self.text
        case .other: break
        }
    }

    /// Three digits from 100 to 599, else 0.
    private static func status(_ value: [UInt8]) -> Int {
        guard value.count == 3 else { return 0 }
        var number = 0
        for digit in value {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return 0 }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return (100...599).contains(number) ? number : 0
    }
}

/// The static and the dynamic table of RFC 7541, for replies.
struct ReplyHeaderTable: Sendable {
    /// What RFC 9113 gives as the start value, and what we announce.
    static let maximumSize = 4096

    /// The newest first.
    private var entries = CircularBuffer<ReplyField>()
    private var size = 0
    private var limit = Self.maximumSize

    /// Position 1 to 61 is the static table, then come the dynamic entries.
    func field(at index: Int) -> ReplyField? {
        guard index > 0 else { return nil }
        if index <= Self.fixed.count { return Self.fixed[index - 1] }
        let position = index - Self.fixed.count - 1
        return position < self.entries.count ? self.entries[offset: position] : nil
    }

    mutating func insert(_ field: ReplyField) {
        self.evict(toFit: self.limit - field.size)
        guard field.size <= self.limit else { return }
        self.entries.prepend(field)
        self.size += field.size
    }

    /// `false` for more than we announced.
    mutating func resize(to limit: Int) -> Bool {
        guard limit <= Self.maximumSize else { return false }
        self.limit = limit
        self.evict(toFit: limit)
        return true
    }

    private mutating func evict(toFit size: Int) {
        while self.size > max(0, size), let oldest = self.entries.popLast() {
            self.size -= oldest.size
        }
    }

    /// RFC 7541 appendix A.
    private static let fixed: [ReplyField] = Self.fixedNames.flatMap { name, values in
        values.map { value in
            let bytes = Array(name.utf8)
            return ReplyField(name: .init(bytes), nameLength: bytes.count, value: Array(value.utf8))
        }
    }

    private static let fixedNames: [(String, [String])] =
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
