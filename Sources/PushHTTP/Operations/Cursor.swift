import Foundation
package import PushSupport
import PushTypes

/// A position in a list. Callers see it as an opaque text.
///
/// The text is base64url of the list's prefix and of the numbers of a position.
package struct Cursor: Hashable, Sendable {
    /// The list to which a cursor belongs, so that the cursor of one list is not taken for that of another.
    package struct List: Hashable, Sendable {
        let prefix: String
        /// The count of numbers in a position: one for each of two lists in one response, or for each column of a key.
        let numbers: Int

        package init(_ prefix: String, numbers: Int = 1) { (self.prefix, self.numbers) = (prefix, numbers) }
    }

    /// The maximum length of the text, in bytes.
    static let maximumLength = 96

    package let list: List
    package let position: Int64
    package let second, third: Int64?

    package init(list: List, position: Int64, second: Int64? = nil, third: Int64? = nil) {
        (self.list, self.position, self.second, self.third) = (list, position, second, third)
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
        guard text.utf8.count <= Self.maximumLength, let data = Base64URL.decode(text),
            let plain = String(bytes: data, encoding: .utf8),
            plain.hasPrefix(list.prefix)
        else { return nil }
        let numbers = plain.dropFirst(list.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
            .map { Int64($0) }
        guard numbers.count == list.numbers, let position = numbers[0] else { return nil }
        return Cursor(
            list: list,
            position: position,
            second: numbers.count > 1 ? numbers[1] : nil,
            third: numbers.count > 2 ? numbers[2] : nil
        )
    }

    package var text: String {
        let numbers = [self.position, self.second, self.third].compactMap { $0.map(String.init) }
        return Base64URL.encode("\(self.list.prefix)\(numbers.joined(separator: "."))".utf8)
    }
}

/// The part of a list that a request names by `limit` and `cursor`.
package struct ListPageRequest: Sendable {
    let list: Cursor.List
    /// The maximum number of entries in the page.
    package let limit: Int
    /// The position of the last entry of the previous page, or `nil` at the beginning.
    package let after: Int64?

    /// Returns the cursor of the next page, or `nil` at the end of the list.
    ///
    /// A full page is taken to have a successor, so the last page may be empty.
    package func next<Record>(after records: [Record], _ position: (Record) -> Int64) -> String? {
        guard records.count == self.limit, let last = records.last else { return nil }
        return Cursor(list: self.list, position: position(last)).text
    }
}
