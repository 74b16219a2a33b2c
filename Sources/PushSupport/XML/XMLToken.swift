/// The kind of a token of an XML stream.
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

/// Finds the ends of tokens in bytes that arrive in pieces. It looks at no byte more than twice.
package struct XMLTokenScanner: Sendable {
    /// The number of the token's bytes that have been scanned.
    private var scanned = 0
    /// The quotation mark that ends the attribute's value being scanned; `nil` outside of a value.
    private var quote: UInt8?

    /// The number of bytes at the beginning of a token that identify it, including the whole name of a tag.
    package static let beginning = XMLTag.maximumName + 3
    /// The number of bytes at the end of a token by which the end is recognized.
    package static let ending = Self.sectionEnd.count

    package static let sectionStart = Array("<![CDATA[".utf8)
    package static let sectionEnd = Array("]]>".utf8)
    package static let declarationStart = Array("<?xml".utf8)
    private static let declarationEnd = Array("?>".utf8)

    package init() {}

    /// Returns the token at the beginning of `bytes` and its end; `nil` until the whole token has arrived.
    /// - Parameter bytes: The bytes of the last call, and those that have arrived since.
    package mutating func scan(_ bytes: ArraySlice<UInt8>) throws(XMLFault) -> (XMLToken, end: Int)? {
        let found = try self.find(bytes)
        if found != nil { self = XMLTokenScanner() }
        return found
    }

    /// Adjusts the scanner to bytes of the incomplete token that the caller has dropped.
    ///
    /// The dropped bytes have been scanned, and are neither among the first ``beginning`` nor among the last ``ending``
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

/// The error of a text that is not well-formed XML, or not in the subset that is accepted.
package struct XMLFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case notUTF8, notWellFormed
        /// A part of XML that is not allowed, such as a document type.
        case restricted
        /// A limit is exceeded, such as that on attributes.
        case exceedsLimit
    }

    package let kind: Kind
    /// The reason as the predicate of a sentence about the text, such as `it is not UTF-8`.
    package let reason: String

    package init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }
}
