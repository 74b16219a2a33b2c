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

/// A list, or one page of it: `{"NAME":[…],"next":"…"}`.
package struct ListResponse<Entry: Encodable>: Encodable {
    private let name: String
    private let entries: [Entry]
    private let next: String?

    /// - Parameter next: where the next page begins; `nil` at the end, and in a list without pages.
    package init(_ name: String, _ entries: [Entry], next: String? = nil) {
        (self.name, self.entries, self.next) = (name, entries, next)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(self.entries, forKey: Key(stringValue: self.name))
        try container.encodeIfPresent(self.next, forKey: Key(stringValue: "next"))
    }
}
