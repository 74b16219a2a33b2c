import PushSupport

/// A pull parser for small XML documents in UTF-8 (XML 1.0) that accepts only a small subset of XML.
///
/// It refuses document types, and with them entities other than the five predefined ones. It also refuses processing
/// instructions other than the declaration, character references, and names beyond ASCII. Nesting, attributes and names
/// are limited, and the parsing time is linear in the length of the text.
struct XMLReader {
    enum Event: Hashable, Sendable {
        case start(String, attributes: [String: String])
        case end(String)
        /// The text between two tags, with references resolved. White space alone produces no event.
        case text(String)
    }

    /// The maximum length of a document, in bytes. A longer one is an `XMLFault`.
    static let maximumLength = 64 * 1024
    static let maximumDepth = 16
    /// The maximum number of attributes of an element. More are an `XMLFault`.
    static let maximumAttributes = 16
    /// The maximum length of the name of an element or attribute, in bytes. A longer one is an `XMLFault`.
    static let maximumName = 100

    private let bytes: [UInt8]
    private var position = 0
    /// The names of the open elements, the outermost first.
    private var open: [String] = []
    private var hasEnded = false
    /// The name of an element in the form `<name/>` whose end is the next event, or `nil` if there is none.
    private var pendingEnd: String?

    /// Begins to read a document.
    /// - Throws: `XMLFault` for a document that is too long, is not UTF-8, or declares another encoding.
    init(_ bytes: [UInt8]) throws(XMLFault) {
        guard bytes.count <= Self.maximumLength else {
            throw XMLFault(.exceedsLimit, "it has more than \(Self.maximumLength) bytes")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw XMLFault(.notUTF8, "it is not UTF-8") }
        guard bytes.allSatisfy({ $0 >= 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }) else {
            throw XMLFault(.notWellFormed, "it has control characters")
        }
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { self.position = 3 }
        try self.skipDeclaration()
    }

    /// Returns the next event, or `nil` at the end of the document.
    /// - Throws: `XMLFault` if the document is not well-formed, exceeds a limit, or has a component that is refused.
    mutating func next() throws(XMLFault) -> Event? {
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
                text += try XMLCharacters.decode(self.skip("<![CDATA[", through: "]]>"), .section)
            } else {
                // A tag ends the text. The tag is read by the next call.
                if let event = try self.event(ofText: text) { return event }
                return try self.tag()
            }
        }
        guard try self.event(ofText: text) == nil, self.hasEnded else {
            throw XMLFault(.notWellFormed, "it ends within an element")
        }
        return nil
    }

    private func event(ofText text: String) throws(XMLFault) -> Event? {
        guard !text.utf8.allSatisfy(XMLCharacters.isSpace) else { return nil }
        guard !self.open.isEmpty else { throw XMLFault(.notWellFormed, "it has text outside of its element") }
        return .text(text)
    }
}

// MARK: - Tags

extension XMLReader {
    private mutating func tag() throws(XMLFault) -> Event {
        guard !self.hasEnded else { throw XMLFault(.notWellFormed, "it has more than one element") }
        if self.isAt("<!") { throw XMLFault(.restricted, "document types and entities are not allowed") }
        if self.isAt("<?") { throw XMLFault(.restricted, "processing instructions are not allowed") }
        var scanner = XMLTokenScanner()
        guard let (_, end) = try scanner.scan(self.bytes[self.position...]) else {
            throw XMLFault(.notWellFormed, "it ends within a tag")
        }
        let bytes = self.bytes[self.position..<end]
        try Self.checkReferences(bytes)
        let tag = try XMLTag(bytes)
        self.position = end
        guard ([tag.name] + tag.attributes.map(\.name)).allSatisfy(Self.isAllowed) else {
            throw XMLFault(.restricted, "a name is not ASCII, or has more than \(Self.maximumName) bytes")
        }
        return try tag.kind == .end ? self.close(tag.name) : self.start(tag)
    }

    private static func isAllowed(name: String) -> Bool {
        name.utf8.count <= Self.maximumName && name.utf8.allSatisfy { $0 < 0x80 }
    }

    private mutating func start(_ tag: XMLTag) throws(XMLFault) -> Event {
        guard tag.attributes.count <= Self.maximumAttributes else {
            throw XMLFault(.exceedsLimit, "an element has more than \(Self.maximumAttributes) attributes")
        }
        guard self.open.count < Self.maximumDepth else {
            throw XMLFault(.exceedsLimit, "its elements are nested more than \(Self.maximumDepth) deep")
        }
        self.open.append(tag.name)
        if tag.kind == .empty { self.pendingEnd = tag.name }
        return .start(tag.name, attributes: Dictionary(tag.attributes.map { ($0.name, $0.value) }) { $1 })
    }

    private mutating func close(_ name: String) throws(XMLFault) -> Event {
        guard self.open.popLast() == name else {
            throw XMLFault(.notWellFormed, "an end tag is not that of the open element")
        }
        self.hasEnded = self.open.isEmpty
        return .end(name)
    }
}

// MARK: - Characters

extension XMLReader {
    private func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { self.bytes[self.position...].starts(with: $0) }
    }

    private mutating func characters() throws(XMLFault) -> String {
        let rest = self.bytes[self.position...]
        let bytes = rest.prefix { $0 != UInt8(ascii: "<") }
        try Self.checkReferences(bytes)
        self.position = bytes.endIndex
        return try XMLCharacters.decode(bytes, .text)
    }

    private static func checkReferences(_ bytes: ArraySlice<UInt8>) throws(XMLFault) {
        guard bytes.firstRange(of: "&#".utf8) == nil else {
            throw XMLFault(.restricted, "it has a reference other than &lt; &gt; &amp; &quot; &apos;")
        }
    }

    /// Skips a section with a fixed beginning and end.
    /// - Returns: The bytes between them.
    private mutating func skip(_ start: StaticString, through end: StaticString) throws(XMLFault) -> ArraySlice<UInt8> {
        self.position += start.utf8CodeUnitCount
        let first = self.position
        while self.position < self.bytes.count {
            guard !self.isAt(end) else {
                defer { self.position += end.utf8CodeUnitCount }
                return self.bytes[first..<self.position]
            }
            self.position += 1
        }
        throw XMLFault(.notWellFormed, "it ends within a comment or a CDATA section")
    }

    /// Skips the declaration `<?xml …?>`, which may declare no encoding other than UTF-8.
    private mutating func skipDeclaration() throws(XMLFault) {
        guard self.isAt("<?xml"), self.bytes.count > self.position + 5,
            XMLCharacters.isSpace(self.bytes[self.position + 5])
        else { return }
        let text = String(decoding: try self.skip("<?xml", through: "?>"), as: UTF8.self).lowercased()
        guard let encoding = text.firstRange(of: "encoding") else { return }
        let name = text[encoding.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\"" || $0 == "'" }
        guard name.hasPrefix("utf-8") || name.hasPrefix("us-ascii") else {
            throw XMLFault(.restricted, "its encoding is not UTF-8")
        }
    }
}
