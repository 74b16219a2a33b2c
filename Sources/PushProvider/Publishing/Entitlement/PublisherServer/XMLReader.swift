import Foundation

/// A pull reader for small XML documents in UTF-8 (XML 1.0), far stricter than XML itself.
///
/// There is no document type, and so no entity besides the five of XML; no processing instruction besides the declaration; no
/// character reference. Nesting, attributes and names are limited, and the time is linear in the length of the text.
struct XMLReader {
    /// A part of a document.
    enum Event: Hashable, Sendable {
        case start(String, attributes: [String: String])
        case end(String)
        /// The text between two tags, without references; not white space alone.
        case text(String)
    }

    /// The fault of a document, as the end of a sentence about it.
    struct Fault: Error, Hashable, Sendable {
        var message: String

        init(_ message: String) { self.message = message }
    }

    /// The longest document, in bytes.
    static let maximumLength = 64 * 1024
    static let maximumDepth = 16
    /// The most attributes of an element.
    static let maximumAttributes = 16
    /// The longest name of an element or an attribute, in bytes.
    static let maximumName = 100

    private let bytes: [UInt8]
    private var position = 0
    /// The names of the open elements, the outermost first.
    private var open: [String] = []
    /// `true` after the end of the outermost element.
    private var hasEnded = false
    /// The end of an element that was written as `<name/>`.
    private var pendingEnd: String?

    /// - Throws: ``Fault`` for a text that is too long, not UTF-8, or declares another encoding.
    init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Self.maximumLength else { throw Fault("it has more than \(Self.maximumLength) bytes") }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Fault("it is not UTF-8") }
        guard bytes.allSatisfy({ $0 >= 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }) else {
            throw Fault("it has control characters")
        }
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { self.position = 3 }
        try self.skipDeclaration()
    }

    /// Returns the next part; `nil` at the end of the document.
    /// - Throws: ``Fault``.
    mutating func next() throws(Fault) -> Event? {
        if let name = self.pendingEnd {
            self.pendingEnd = nil
            return try self.close(name)
        }
        var text = ""
        while self.position < self.bytes.count {
            if !self.isAt("<") {
                text += try self.characters()
            } else if self.isAt("<!--") {
                _ = try self.skip("<!--", through: "-->")
            } else if self.isAt("<![CDATA["), !self.open.isEmpty {
                text += try self.skip("<![CDATA[", through: "]]>")
            } else {
                // A tag ends the text, and is read by the next call.
                if let event = try self.event(ofText: text) { return event }
                return try self.tag()
            }
        }
        guard try self.event(ofText: text) == nil, self.hasEnded else { throw Fault("it ends within an element") }
        return nil
    }

    private func event(ofText text: String) throws(Fault) -> Event? {
        guard !text.utf8.allSatisfy(Self.isSpace) else { return nil }
        guard !self.open.isEmpty else { throw Fault("it has text outside of its element") }
        return .text(text)
    }
}

// MARK: - Tags

extension XMLReader {
    private mutating func tag() throws(Fault) -> Event {
        guard !self.hasEnded else { throw Fault("it has more than one element") }
        self.position += 1
        switch self.byte {
        case UInt8(ascii: "/"):
            self.position += 1
            let name = try self.name()
            self.skipSpace()
            try self.expect(">")
            return try self.close(name)
        case UInt8(ascii: "!"): throw Fault("document types and entities are not allowed")
        case UInt8(ascii: "?"): throw Fault("processing instructions are not allowed")
        default: return try self.startTag()
        }
    }

    private mutating func startTag() throws(Fault) -> Event {
        let name = try self.name()
        var attributes: [String: String] = [:]
        while true {
            let hadSpace = self.skipSpace()
            if self.isAt("/>") || self.isAt(">") { break }
            guard hadSpace, attributes.count < Self.maximumAttributes else { throw self.unexpected }
            let (key, value) = try self.attribute()
            guard attributes.updateValue(value, forKey: key) == nil else { throw Fault("an attribute is given twice") }
        }
        guard self.open.count < Self.maximumDepth else {
            throw Fault("its elements are nested more than \(Self.maximumDepth) deep")
        }
        self.open.append(name)
        if self.isAt("/>") {
            self.position += 2
            self.pendingEnd = name
        } else {
            self.position += 1
        }
        return .start(name, attributes: attributes)
    }

    private mutating func attribute() throws(Fault) -> (String, String) {
        let name = try self.name()
        self.skipSpace()
        try self.expect("=")
        self.skipSpace()
        guard let quote = self.byte, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw self.unexpected
        }
        self.position += 1
        let rest = self.bytes[self.position...]
        guard let end = rest.firstIndex(of: quote) else { throw Fault("it ends within an attribute") }
        let value = try Self.unescaped(self.bytes[self.position..<end])
        self.position = end + 1
        return (name, value)
    }

    private mutating func close(_ name: String) throws(Fault) -> Event {
        guard self.open.popLast() == name else { throw Fault("an end tag is not that of the open element") }
        self.hasEnded = self.open.isEmpty
        return .end(name)
    }
}

// MARK: - Characters

extension XMLReader {
    private var byte: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

    private var unexpected: Fault { Fault("it is not well-formed at byte \(self.position)") }

    private func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { self.bytes[self.position...].starts(with: $0) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    /// Skips white space.
    /// - Returns: `true` if there was any.
    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = self.position
        while let byte, Self.isSpace(byte) { self.position += 1 }
        return self.position > start
    }

    private mutating func expect(_ text: StaticString) throws(Fault) {
        guard self.isAt(text) else { throw self.unexpected }
        self.position += text.utf8CodeUnitCount
    }

    /// Reads a name of ASCII letters, digits, `_`, `-`, `.` and `:`, which begins with a letter or `_`.
    private mutating func name() throws(Fault) -> String {
        let start = self.position
        while let byte, Self.isNameByte(byte) { self.position += 1 }
        let name = self.bytes[start..<self.position]
        guard let first = name.first, first > UInt8(ascii: ":"), name.count <= Self.maximumName else {
            throw self.unexpected
        }
        return String(decoding: name, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Reads text up to the next tag.
    private mutating func characters() throws(Fault) -> String {
        let rest = self.bytes[self.position...]
        let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
        let text = try Self.unescaped(rest[..<end])
        self.position = end
        return text
    }

    /// Skips a part with a fixed beginning and end.
    /// - Returns: The text between both.
    private mutating func skip(_ start: StaticString, through end: StaticString) throws(Fault) -> String {
        try self.expect(start)
        let first = self.position
        while self.position < self.bytes.count {
            guard !self.isAt(end) else {
                let text = String(decoding: self.bytes[first..<self.position], as: UTF8.self)
                try self.expect(end)
                return text
            }
            self.position += 1
        }
        throw Fault("it ends within a comment or a CDATA section")
    }

    /// Skips the declaration `<?xml …?>`, which may name UTF-8 as the encoding only.
    private mutating func skipDeclaration() throws(Fault) {
        guard self.isAt("<?xml"), self.bytes.count > self.position + 5,
            Self.isSpace(self.bytes[self.position + 5])
        else { return }
        let text = try self.skip("<?xml", through: "?>").lowercased()
        guard let encoding = text.firstRange(of: "encoding") else { return }
        let name = text[encoding.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\"" || $0 == "'" }
        guard name.hasPrefix("utf-8") || name.hasPrefix("us-ascii") else { throw Fault("its encoding is not UTF-8") }
    }

    /// Returns text with its references replaced.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) throws(Fault) -> String {
        guard !bytes.contains(UInt8(ascii: "<")) else { throw Fault("an attribute has a <") }
        var output: [UInt8] = []
        var rest = bytes
        while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
            output += rest[..<ampersand]
            rest = rest[(ampersand + 1)...]
            let name = rest.prefix(5).prefix { $0 != UInt8(ascii: ";") }
            guard let character = Self.entities[String(decoding: name, as: UTF8.self)],
                name.endIndex < rest.endIndex, rest[name.endIndex] == UInt8(ascii: ";")
            else { throw Fault("it has a reference other than &lt; &gt; &amp; &quot; &apos;") }
            output.append(character)
            rest = rest[(name.endIndex + 1)...]
        }
        return String(decoding: output + rest, as: UTF8.self)
    }

    private static let entities: [String: UInt8] = [
        "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "amp": UInt8(ascii: "&"), "quot": UInt8(ascii: "\""),
        "apos": UInt8(ascii: "'"),
    ]
}
