/// The kind of a token of an XML stream.
package enum XMLToken: Hashable {
    /// Characters up to the next tag.
    case characters
    /// A tag, from `<` to `>`.
    case tag
    /// A CDATA section, from `<![CDATA[` to `]]>`.
    case section
    /// The XML declaration, from `<?xml` to `?>`.
    case declaration
}

/// Finds the end of each token in bytes that arrive in pieces. It examines each byte at most twice.
package struct XMLTokenScanner: Sendable {
    private var scanned = 0
    /// The quotation mark that closes the attribute value being scanned, or `nil` outside of a value.
    private var quote: UInt8?

    /// The number of bytes at the start of a token that identify it, including the whole name of a tag.
    package static let beginning = XMLTag.maximumName + 3
    /// The number of bytes at the end of a token that are needed to recognize the end.
    package static let ending = Self.sectionEnd.count

    package static let sectionStart = Array("<![CDATA[".utf8)
    package static let sectionEnd = Array("]]>".utf8)
    package static let declarationStart = Array("<?xml".utf8)
    private static let declarationEnd = Array("?>".utf8)

    package init() {}

    /// Returns the token at the start of `bytes` and the index of its end, or `nil` until the whole token has arrived.
    /// - Parameter bytes: The bytes of the last call, and those that have arrived since.
    /// - Throws: ``XMLFault`` for bytes that begin no token of the accepted subset of XML.
    package mutating func scan(_ bytes: ArraySlice<UInt8>) throws(XMLFault) -> (XMLToken, end: Int)? {
        let found = try self.find(bytes)
        if found != nil { self = XMLTokenScanner() }
        return found
    }

    /// Adjusts the scanner after the caller has dropped bytes of the incomplete token.
    ///
    /// The dropped bytes must have been scanned, and must not be among the first ``beginning`` or the last ``ending``
    /// bytes.
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

/// The error for a document that is not well-formed XML, or not in the accepted subset of XML.
package struct XMLFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case notUTF8, notWellFormed
        /// A construct of XML that is not allowed, such as a document type.
        case restricted
        /// A document that exceeds a limit, such as the maximum number of attributes.
        case exceedsLimit
    }

    package let kind: Kind
    /// The reason as a clause in which *it* stands for the document, such as `it is not UTF-8`.
    package let reason: String

    package init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }
}
