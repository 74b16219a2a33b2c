/// A string that is compared by its bytes, as in the database.
///
/// Swift's own comparison is by canonical equivalence: a letter with an accent equals the letter followed by a
/// combining accent. Users or categories with such names would be taken for each other.
package struct BytewiseString: Hashable, Sendable, Comparable, ExpressibleByStringInterpolation {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = self.text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String? {
    /// Returns whether two texts have the same bytes or are both `nil`.
    package func isExactly(_ other: String?) -> Bool {
        switch (self, other) {
        case (let text?, let other?): text.utf8.elementsEqual(other.utf8)
        case (nil, nil): true
        case (nil, _?), (_?, nil): false
        }
    }
}
