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
