/// A tag as it is written: namespace prefixes are not resolved.
package struct XMLTag {
    package enum Kind {
        case start, end
        /// An empty-element tag, such as `<name/>`.
        case empty
    }

    /// The name, including its namespace prefix.
    package private(set) var name: String
    package private(set) var kind: Kind
    /// The attributes, including their namespace prefixes, in the order of the document. No two have the same name.
    package private(set) var attributes: [(name: String, value: String)] = []
    /// A Boolean value that indicates whether the tag was parsed with all attributes. If not, they were left out.
    package private(set) var isWhole = true

    /// The maximum number of attributes, and also of namespace declarations, of a tag. A tag with more is rejected.
    package static let maximumAttributes = 64
    /// The maximum length of a name, in bytes. A tag with a longer name is rejected.
    package static let maximumName = 256

    /// Parses a tag.
    /// - Parameter bytes: The bytes from `<` to `>`, both included.
    package init(_ bytes: ArraySlice<UInt8>) throws(XMLFault) {
        var reader = Reader(rest: bytes.dropFirst().dropLast())
        self.kind = reader.skip(UInt8(ascii: "/")) ? .end : .start
        self.name = try reader.name()
        while true {
            let hadSpace = reader.skipSpace()
            if reader.rest.isEmpty { return }
            guard self.kind == .start else { throw Reader.fault }
            if reader.skip(UInt8(ascii: "/")) {
                guard reader.rest.isEmpty else { throw Reader.fault }
                self.kind = .empty
                return
            }
            guard hadSpace else { throw Reader.fault }
            let attribute = try reader.attribute()
            guard !self.attributes.contains(where: { $0.name == attribute.name }) else {
                throw XMLFault(.notWellFormed, "an attribute is given twice")
            }
            guard self.attributes.count < 2 * Self.maximumAttributes else {
                throw XMLFault(.exceedsLimit, "an element has more than \(Self.maximumAttributes) attributes")
            }
            self.attributes.append(attribute)
        }
    }

    /// Parses the name and the kind of a tag without its attributes. A name that is too long is left empty.
    /// - Parameter bytes: The bytes from `<` to `>`. Bytes between the first ``XMLTokenScanner/beginning`` and the last
    ///   ``XMLTokenScanner/ending`` may be missing.
    package init(leavingOutAttributesOf bytes: ArraySlice<UInt8>) throws(XMLFault) {
        var reader = Reader(rest: bytes.dropFirst().dropLast())
        let isEnd = reader.skip(UInt8(ascii: "/"))
        self.kind = isEnd ? .end : reader.rest.last == UInt8(ascii: "/") ? .empty : .start
        self.name = try reader.hasTooLongName ? "" : reader.name()
        self.isWhole = false
    }

    /// Splits a name into its namespace prefix and its local part. The prefix is empty if the name has none.
    /// - Parameter name: A name that a tag has.
    package static func split(_ name: String) -> (prefix: Substring, local: Substring) {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", name[...]) }
        return (name[..<colon], name[name.utf8.index(after: colon)...])
    }
}

extension XMLTag {
    private struct Reader {
        var rest: ArraySlice<UInt8>

        static let fault = XMLFault(.notWellFormed, "a tag is not well-formed")

        mutating func skip(_ byte: UInt8) -> Bool {
            guard self.rest.first == byte else { return false }
            self.rest.removeFirst()
            return true
        }

        @discardableResult
        mutating func skipSpace() -> Bool {
            let count = self.rest.count
            self.rest = self.rest.drop(while: XMLCharacters.isSpace)
            return self.rest.count < count
        }

        mutating func attribute() throws(XMLFault) -> (name: String, value: String) {
            let name = try self.name()
            self.skipSpace()
            guard self.skip(UInt8(ascii: "=")) else { throw Self.fault }
            self.skipSpace()
            guard let quote = self.rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = self.rest.firstIndex(of: quote)
            else { throw Self.fault }
            let value = try XMLCharacters.decode(self.rest[..<end], .attribute)
            self.rest = self.rest[(end + 1)...]
            return (name, value)
        }

        var hasTooLongName: Bool { self.rest.prefix(while: Self.isInName).count > XMLTag.maximumName }

        /// Parses a name of letters, digits, `_`, `-`, `.` and characters beyond ASCII, with or without a prefix.
        mutating func name() throws(XMLFault) -> String {
            let bytes = self.rest.prefix(while: Self.isInName)
            self.rest = self.rest[bytes.endIndex...]
            guard bytes.count <= XMLTag.maximumName else {
                throw XMLFault(.exceedsLimit, "a name has more than \(XMLTag.maximumName) bytes")
            }
            let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let begins = parts.allSatisfy { part in part.first.map { Self.isInName($0) && !Self.isLater($0) } ?? false }
            guard parts.count <= 2, begins else { throw Self.fault }
            return try XMLCharacters.decode(bytes, .section)
        }

        private static func isInName(_ byte: UInt8) -> Bool {
            byte.isAlphanumeric || byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
                || self.isLater(byte)
        }

        private static func isLater(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }
}
