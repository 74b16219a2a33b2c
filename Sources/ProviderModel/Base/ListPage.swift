/// A position in a sorted list, from which the next page is read: the sort key and the number of a record.
package struct ListPosition: Hashable, Sendable {
    package var key: Int64
    package var number: Int64

    package init(key: Int64 = 0, number: Int64) { (self.key, self.number) = (key, number) }
}

/// A page of a list that is read along an index.
package struct ListPage<Entry: Hashable & Sendable>: Hashable, Sendable {
    package var entries: [Entry]
    /// The place at which the next page begins, or `nil` at the end of the list. A page that is not full may have one
    /// too, because the number of rows that are read for a page is limited.
    package var next: ListPosition?
    /// The total length of the entries' stored bodies, in bytes, which limits the page, or 0 if they have none.
    package var bodyBytes = 0

    package init(entries: [Entry], next: ListPosition?) { (self.entries, self.next) = (entries, next) }
}

/// The number of entries of a whole list, up to a maximum.
package struct ListTotal: Hashable, Sendable {
    /// The maximum number of entries that are counted. In a longer list, ``count`` is only a lower bound.
    package static let maximum = 10_000

    package var count: Int
    /// A Boolean value that indicates whether ``count`` is the exact number, and not only a lower bound.
    package var isExact: Bool

    package init(count: Int, isExact: Bool) { (self.count, self.isExact) = (count, isExact) }
}
