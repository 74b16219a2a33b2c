import Mustache

/// A text that is escaped for HTML scalar by scalar, as a browser parses.
///
/// Mustache's own content type compares characters, and to Swift a `<` after some scalars, such as U+0600, is part of
/// another character, which stays as it is.
package enum HTMLEscaping {
    /// The name under which templates ask for it.
    static let contentType = "MARKUP"

    /// The directive that begins every template.
    static let directive = "{{% CONTENT_TYPE: \(Self.contentType)}}"

    /// Returns a text that is no markup, in elements and in quoted attributes.
    package static func escape(_ text: String) -> String {
        guard text.utf8.contains(where: Self.isSpecial) else { return text }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): escaped += Array("&amp;".utf8)
            case UInt8(ascii: "<"): escaped += Array("&lt;".utf8)
            case UInt8(ascii: ">"): escaped += Array("&gt;".utf8)
            case UInt8(ascii: "\""): escaped += Array("&quot;".utf8)
            case UInt8(ascii: "'"): escaped += Array("&#39;".utf8)
            // HTML has no NUL; browsers differ in what they make of it.
            case 0: escaped += Array("\u{FFFD}".utf8)
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"), 0: true
        default: false
        }
    }
}

/// The content type of all pages.
struct MarkupContentType: MustacheContentType {
    func escapeText(_ text: String) -> String { HTMLEscaping.escape(text) }
}
