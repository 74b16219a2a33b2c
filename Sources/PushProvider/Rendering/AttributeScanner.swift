/// Finds members of a device's attributes in their JSON text, which is a flat object.
///
/// It does not parse the other members: with a million devices, a full parser would take most of the time.
struct AttributeScanner {
    /// The position of a member's value in the JSON text.
    enum Value: Hashable {
        /// The range between the quotation marks. A plain string consists of printable ASCII without escapes.
        case string(Range<Int>, isPlain: Bool)
        /// The range of a number, `true` or `false`.
        case token(Range<Int>)
    }

    /// The error for text that is not a JSON object.
    struct Damage: Error, Hashable {}

    /// The names of the members to find, in UTF-8.
    private let names: [[UInt8]]
    /// The value of each name in ``names``, or `nil` for an absent member, `null`, an object or an array.
    private(set) var values: [Value?]
    private var position = 0

    init(names: [String]) {
        self.names = names.map { Array($0.utf8) }
        self.values = Array(repeating: nil, count: names.count)
    }

    mutating func reset() {
        for index in self.values.indices { self.values[index] = nil }
    }

    /// Sets ``values`` to the positions in the text. It stops when every name was found. The first of several members
    /// with one name is used.
    mutating func scan(_ text: Span<UInt8>) throws(Damage) {
        self.reset()
        self.position = 0
        var missing = self.names.count
        try self.expect(UInt8(ascii: "{"), text)
        guard self.next(text) != UInt8(ascii: "}") else { return }
        while missing > 0 {
            let (key, isPlain) = try self.string(text)
            try self.expect(UInt8(ascii: ":"), text)
            let value = try self.value(text)
            if let index = self.index(of: key, isPlain, text), self.values[index] == nil {
                self.values[index] = value
                missing -= 1
            }
            guard self.next(text) == UInt8(ascii: ",") else { return try self.expect(UInt8(ascii: "}"), text) }
            self.position += 1
        }
    }

    private func index(of key: Range<Int>, _ isPlain: Bool, _ text: Span<UInt8>) -> Int? {
        if !isPlain {
            let bytes = Array(JSONUnescaping.text(key.map { text[$0] }).utf8)
            return self.names.firstIndex(of: bytes)
        }
        for (index, name) in self.names.enumerated() where name.count == key.count {
            var offset = 0
            while offset < name.count, name[offset] == text[key.lowerBound + offset] { offset += 1 }
            if offset == name.count { return index }
        }
        return nil
    }

    /// Returns the next byte that is not white space without consuming it, or returns `nil` at the end of the text.
    private mutating func next(_ text: Span<UInt8>) -> UInt8? {
        while self.position < text.count {
            switch text[self.position] {
            case 0x20, 0x09, 0x0a, 0x0d: self.position += 1
            case let byte: return byte
            }
        }
        return nil
    }

    private mutating func expect(_ byte: UInt8, _ text: Span<UInt8>) throws(Damage) {
        guard self.next(text) == byte else { throw Damage() }
        self.position += 1
    }

    private mutating func string(_ text: Span<UInt8>) throws(Damage) -> (Range<Int>, isPlain: Bool) {
        try self.expect(UInt8(ascii: "\""), text)
        let start = self.position
        var isPlain = true
        while self.position < text.count {
            switch text[self.position] {
            case UInt8(ascii: "\""):
                self.position += 1
                return (start..<self.position - 1, isPlain)
            case UInt8(ascii: "\\"):
                isPlain = false
                self.position += 2
            case 0x20..<0x7f: self.position += 1
            default:
                isPlain = false
                self.position += 1
            }
        }
        throw Damage()
    }

    /// Parses a value, or returns `nil` for `null`, an object or an array.
    private mutating func value(_ text: Span<UInt8>) throws(Damage) -> Value? {
        switch self.next(text) {
        case UInt8(ascii: "\""):
            let (range, isPlain) = try self.string(text)
            return .string(range, isPlain: isPlain)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try self.skipNested(text)
            return nil
        default: return try self.token(text)
        }
    }

    private mutating func skipNested(_ text: Span<UInt8>) throws(Damage) {
        var depth = 0
        repeat {
            switch self.next(text) {
            case UInt8(ascii: "\""): _ = try self.string(text)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                self.position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                self.position += 1
            case nil: throw Damage()
            default: self.position += 1
            }
        } while depth > 0
    }

    private mutating func token(_ text: Span<UInt8>) throws(Damage) -> Value? {
        let start = self.position
        scan: while self.position < text.count {
            switch text[self.position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
                UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"):
                self.position += 1
            default: break scan
            }
        }
        guard self.position > start else { throw Damage() }
        return text[start] == UInt8(ascii: "n") ? nil : .token(start..<self.position)
    }
}
