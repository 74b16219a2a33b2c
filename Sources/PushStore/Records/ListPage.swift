/// A place in a sorted list: the number by which it is sorted, and the record's own number.
///
/// In a list that is sorted by a text, the record itself has it.
package struct ListPosition: Hashable, Sendable {
    package var key: Int64
    package var number: Int64

    package init(key: Int64 = 0, number: Int64) { (self.key, self.number) = (key, number) }
}

/// A page of a list that is found by walking over an index.
package struct ListPage<Entry: Hashable & Sendable>: Hashable, Sendable {
    package var entries: [Entry]
    /// The place of the next page; `nil` at the end. A page that is not full may have one: its walk was bounded.
    package var next: ListPosition?
    /// The length of the entries' bodies, in bytes; 0 where they have none.
    package var bodyBytes = 0

    package init(entries: [Entry], next: ListPosition?) { (self.entries, self.next) = (entries, next) }
}

/// The number of entries of a whole list.
package struct ListTotal: Hashable, Sendable {
    /// The most rows that are counted.
    package static let maximum = 10_000

    package var count: Int
    /// Indicates whether there are no more.
    package var isExact: Bool

    package init(count: Int, isExact: Bool) { (self.count, self.isExact) = (count, isExact) }
}
