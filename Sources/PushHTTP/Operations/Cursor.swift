import Foundation
package import PushSupport
import PushTypes

/// A position in a list, which is an opaque string for callers.
///
/// The string is the base64url encoding of the list's prefix and the position's numbers.
package struct Cursor: Hashable, Sendable {
    /// The list to which a cursor belongs, so that a cursor of another list is rejected.
    package struct List: Hashable, Sendable {
        let prefix: String
        /// The number of integers in a cursor's position: one for each list in a response, or for each column of a key.
        let numbers: Int

        package init(_ prefix: String, numbers: Int = 1) { (self.prefix, self.numbers) = (prefix, numbers) }
    }

    /// The maximum length of a cursor's string, in bytes. A longer string is not a cursor.
    static let maximumLength = 96

    package let list: List
    package let position: Int64
    package let second, third: Int64?

    package init(list: List, position: Int64, second: Int64? = nil, third: Int64? = nil) {
        (self.list, self.position, self.second, self.third) = (list, position, second, third)
    }

    /// Parses the cursor that a request contains.
    /// - Throws: ``RequestError`` for a string that is not a cursor of this list.
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

/// The page of a list that a request selects by the query items `limit` and `cursor`.
package struct ListPageRequest: Sendable {
    let list: Cursor.List
    package let limit: Int
    /// The position of the last entry on the previous page, or `nil` for the first page.
    package let after: Int64?

    /// Returns the cursor of the next page, or `nil` at the end of the list.
    ///
    /// A full page is assumed to have a successor, so the last page may be empty.
    package func next<Record>(after records: [Record], _ position: (Record) -> Int64) -> String? {
        guard records.count == self.limit, let last = records.last else { return nil }
        return Cursor(list: self.list, position: position(last)).text
    }
}
