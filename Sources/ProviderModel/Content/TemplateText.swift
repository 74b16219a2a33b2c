/// A text with variables, split into its parts.
///
/// A variable is written `{{name}}`, or `{{name|default}}` with a text for devices without a value. `{{{{` is a literal
/// `{{`. A single brace is literal, and so are the first of three braces and `}}` outside of a variable.
package struct TemplateText: Hashable {
    /// A part of a template: literal text or a variable.
    package enum Part: Hashable {
        case text(String)
        case variable(name: String, fallback: String?)
    }

    /// The error of a text that is not a valid template.
    package struct ParseError: Error, Hashable {
        /// The explanation of the mistake, for the caller of the API.
        package var message: String
    }

    /// The maximum length of a variable's name, in bytes. A text with a longer one is not a valid template.
    static let maximumName = 128
    private static let open = UInt8(ascii: "{")
    private static let close = UInt8(ascii: "}")

    package private(set) var parts: [Part] = []

    /// Splits a text.
    /// - Throws: ``ParseError`` for a variable that is not closed or has no usable name.
    package init(parsing text: String) throws(ParseError) {
        let bytes = Array(text.utf8)
        var literal: [UInt8] = []
        var position = 0
        while position < bytes.count {
            guard Self.isPair(bytes, position, Self.open) else {
                literal.append(bytes[position])
                position += 1
                continue
            }
            if Self.isPair(bytes, position + 2, Self.open) {
                literal += [Self.open, Self.open]
                position += 4
                continue
            }
            // The first of three braces is literal, and the other two begin a variable.
            if position + 2 < bytes.count, bytes[position + 2] == Self.open {
                literal.append(Self.open)
                position += 1
                continue
            }
            let start = position + 2
            guard let end = (start..<bytes.count).first(where: { Self.isPair(bytes, $0, Self.close) }) else {
                throw ParseError(message: "a variable is not closed: write }} after it, or {{{{ for two braces")
            }
            self.append(literal)
            literal = []
            self.parts.append(try Self.variable(bytes[start..<end]))
            position = end + 2
        }
        self.append(literal)
    }

    package static func hasMarks(_ text: String) -> Bool {
        let bytes = text.utf8
        return zip(bytes, bytes.dropFirst()).contains { $0 == Self.open && $1 == Self.open }
    }

    private mutating func append(_ literal: [UInt8]) {
        if !literal.isEmpty { self.parts.append(.text(String(decoding: literal, as: UTF8.self))) }
    }

    private static func isPair(_ bytes: [UInt8], _ position: Int, _ brace: UInt8) -> Bool {
        position + 1 < bytes.count && bytes[position] == brace && bytes[position + 1] == brace
    }

    private static func variable(_ inner: ArraySlice<UInt8>) throws(ParseError) -> Part {
        let halves = inner.split(separator: UInt8(ascii: "|"), maxSplits: 1, omittingEmptySubsequences: false)
        let space = UInt8(ascii: " ")
        guard let first = halves.first else { throw ParseError(message: "a variable has no name") }
        let name = first.drop { $0 == space }
        let length = (name.lastIndex { $0 != space }).map { $0 - name.startIndex + 1 } ?? 0
        guard (1...Self.maximumName).contains(length)
        else { throw ParseError(message: "the name of a variable has 1 to \(Self.maximumName) bytes") }
        let trimmed = name.prefix(length)
        guard trimmed.allSatisfy(Self.isAllowed) else {
            throw ParseError(message: "the name of a variable has no braces, quotation marks or control characters")
        }
        return .variable(
            name: String(decoding: trimmed, as: UTF8.self),
            fallback: halves.count == 2 ? String(decoding: halves[1], as: UTF8.self) : nil
        )
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, Self.open, Self.close, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7f: false
        default: true
        }
    }
}
