/// A string that equals only strings of the same bytes, as in the database.
///
/// Two strings of Swift are equal too if they look the same: one of a letter with an accent, the other of the letter and the
/// accent. Users and categories with such names would share what belongs to one of them.
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
    /// Returns `true` if two texts have the same bytes, or there is neither.
    func isExactly(_ other: String?) -> Bool {
        switch (self, other) {
        case (let text?, let other?): text.utf8.elementsEqual(other.utf8)
        case (nil, nil): true
        case (nil, _?), (_?, nil): false
        }
    }
}
