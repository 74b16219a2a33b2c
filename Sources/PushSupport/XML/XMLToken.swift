/// The next part of a stream's bytes that has a meaning as a whole.
package enum XMLToken: Hashable {
    /// Characters up to the next tag.
    case characters
    /// A tag, from `<` to `>`.
    case tag
    /// A CDATA section, from `<![CDATA[` to `]]>`.
    case section
    /// The declaration of XML, from `<?xml` to `?>`.
    case declaration
}

/// Finds where tokens end, in bytes that arrive in pieces. No byte is looked at more often than twice.
package struct XMLTokenScanner: Sendable {
    /// The number of bytes of the token that have been looked at.
    private var scanned = 0
    /// The quotation mark of the attribute's value that goes on; `nil` outside of one.
    private var quote: UInt8?

    /// The number of bytes at the beginning of a token that tell what it is, and what the name of a tag is.
    package static let beginning = XMLTag.maximumName + 3
    /// The number of bytes at the end of a token that tell where it ends.
    package static let ending = Self.sectionEnd.count

    package static let sectionStart = Array("<![CDATA[".utf8)
    package static let sectionEnd = Array("]]>".utf8)
    package static let declarationStart = Array("<?xml".utf8)
    private static let declarationEnd = Array("?>".utf8)

    package init() {}

    /// Returns the token at the beginning of bytes, and its end; `nil` until all of it is there.
    /// - Parameter bytes: The bytes of the last call and those that have arrived since.
    package mutating func scan(_ bytes: ArraySlice<UInt8>) throws(XMLFault) -> (XMLToken, end: Int)? {
        let found = try self.find(bytes)
        if found != nil { self = XMLTokenScanner() }
        return found
    }

    /// Drops some bytes of the token that has no end yet.
    ///
    /// They have been looked at, and neither the first ``beginning`` nor the last ``ending`` are among them.
    package mutating func forget(_ count: Int) { self.scanned -= count }

    private mutating func find(_ bytes: ArraySlice<UInt8>) throws(XMLFault) -> (XMLToken, end: Int)? {
        guard let first = bytes.first else { return nil }
        guard first == UInt8(ascii: "<") else {
            let end = bytes.dropFirst(self.scanned).firstIndex(of: UInt8(ascii: "<"))
            self.scanned = bytes.count
            return end.map { (.characters, $0) }
        }
        guard let second = bytes.dropFirst().first else { return nil }
        switch second {
        case UInt8(ascii: "!"): return try self.special(bytes, .section, Self.sectionStart, Self.sectionEnd)
        case UInt8(ascii: "?"): return try self.special(bytes, .declaration, Self.declarationStart, Self.declarationEnd)
        default: return try self.tag(bytes)
        }
    }

    /// Looks for the end of a token with a fixed beginning and end.
    private mutating func special(
        _ bytes: ArraySlice<UInt8>,
        _ token: XMLToken,
        _ start: [UInt8],
        _ end: [UInt8]
    ) throws(XMLFault) -> (XMLToken, end: Int)? {
        guard bytes.starts(with: start.prefix(bytes.count)) else {
            throw XMLFault(.restricted, "it has a comment, a processing instruction or a document type")
        }
        var position = bytes.startIndex + max(start.count, self.scanned - end.count)
        while position + end.count <= bytes.endIndex {
            if bytes[position..<(position + end.count)].elementsEqual(end) { return (token, position + end.count) }
            position += 1
        }
        self.scanned = bytes.count
        return nil
    }

    private mutating func tag(_ bytes: ArraySlice<UInt8>) throws(XMLFault) -> (XMLToken, end: Int)? {
        for position in bytes.indices.dropFirst(max(1, self.scanned)) {
            let byte = bytes[position]
            switch (byte, self.quote) {
            case (UInt8(ascii: "<"), _): throw XMLFault(.notWellFormed, "a tag has a <")
            case (UInt8(ascii: ">"), nil): return (.tag, position + 1)
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil): self.quote = byte
            case (_, let quote?) where byte == quote: self.quote = nil
            default: break
            }
        }
        self.scanned = bytes.count
        return nil
    }
}
