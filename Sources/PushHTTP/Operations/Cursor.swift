import Foundation
package import PushSupport

/// A position in a list, as an opaque text for callers.
///
/// The text is base64url of the list's prefix and a position, or two positions for a response with two lists.
package struct Cursor: Hashable, Sendable {
    /// A list, so that the cursor of one list is not taken for that of another.
    package struct List: Hashable, Sendable {
        let prefix: String
        let hasTwoPositions: Bool

        package init(_ prefix: String, hasTwoPositions: Bool = false) {
            (self.prefix, self.hasTwoPositions) = (prefix, hasTwoPositions)
        }
    }

    /// The longest text, in bytes.
    static let maximumLength = 64

    package let list: List
    package let position: Int64
    package let second: Int64?

    package init(list: List, position: Int64, second: Int64? = nil) {
        (self.list, self.position, self.second) = (list, position, second)
    }

    /// - Throws: ``RequestError`` for text that is not a cursor of this list.
    package init(text: String, list: List) throws(RequestError) {
        guard let cursor = Self.parse(text, list: list), cursor.text == text else {
            throw RequestError(
                .invalid,
                code: "invalid_cursor",
                message: "use the member next of the page before unchanged, or leave it out to begin",
                path: "cursor"
            )
        }
        self = cursor
    }

    private static func parse(_ text: String, list: List) -> Cursor? {
        guard let data = Self.decode(text), let plain = String(bytes: data, encoding: .utf8),
            plain.hasPrefix(list.prefix)
        else { return nil }
        let numbers = plain.dropFirst(list.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == (list.hasTwoPositions ? 2 : 1), let position = Int64(numbers[0]) else { return nil }
        return Cursor(list: list, position: position, second: list.hasTwoPositions ? Int64(numbers[1]) : nil)
    }

    package var text: String {
        let positions = "\(self.position)\(self.second.map { ".\($0)" } ?? "")"
        return Data("\(self.list.prefix)\(positions)".utf8).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static func decode(_ text: String) -> Data? {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}

/// The part of a list that a request asks for.
package struct PageRequest: Sendable {
    let list: Cursor.List
    /// The most entries of the page.
    package let limit: Int
    /// The position of the last entry of the page before; `nil` at the beginning.
    package let after: Int64?

    /// Returns the cursor of the next page; `nil` at the end of the list.
    ///
    /// A full page is taken to have a successor, so the last page may be empty.
    package func next<Record>(after records: [Record], _ position: (Record) -> Int64) -> String? {
        guard records.count == self.limit, let last = records.last else { return nil }
        return Cursor(list: self.list, position: position(last)).text
    }
}
