/// A pattern in which `*` matches any number of characters and `?` matches one.
package struct GlobPattern: Hashable, Sendable {
    private let scalars: [Unicode.Scalar]
    /// The number of characters before the first `*` or `?`. Of several matching patterns, the highest number wins.
    package let literals: Int

    /// Creates a pattern, or returns `nil` for a text without `*` and `?`.
    package init?(_ text: String) {
        self.scalars = Array(text.unicodeScalars)
        self.literals = Self.literals(of: text).count
        guard self.literals < self.scalars.count else { return nil }
    }

    /// Returns the characters of a name or a pattern before the first `*` or `?`.
    package static func literals(of text: String) -> Substring.UnicodeScalarView {
        text.unicodeScalars.prefix { $0 != "*" && $0 != "?" }
    }

    /// Returns whether the whole text matches, in time that grows with the product of both lengths.
    package func matches(_ text: [Unicode.Scalar]) -> Bool {
        var (position, next) = (0, 0)
        // The last star, and the position up to which it has been tried.
        var star: (next: Int, position: Int)?
        while position < text.count {
            if next < self.scalars.count, self.scalars[next] == "*" {
                star = (next + 1, position)
                next += 1
            } else if next < self.scalars.count, self.scalars[next] == "?" || self.scalars[next] == text[position] {
                (position, next) = (position + 1, next + 1)
            } else if let last = star {
                star = (last.next, last.position + 1)
                (position, next) = (last.position + 1, last.next)
            } else {
                return false
            }
        }
        return self.scalars[next...].allSatisfy { $0 == "*" }
    }

    /// Returns whether some text matches both names, each of which may be a pattern. The time grows with the product of
    /// both lengths, unless their literal beginnings differ.
    package static func overlap(_ one: String, _ other: String) -> Bool {
        // Canonically equivalent texts are one name.
        guard one != other else { return true }
        // Most names have different beginnings, which takes no table.
        let beginnings = zip(Self.literals(of: one), Self.literals(of: other))
        guard beginnings.allSatisfy({ $0 == $1 }) else { return false }
        let others = Array(other.unicodeScalars)
        // Whether the rest of the one, which is empty at first, overlaps with each rest of the other.
        var common = Array(repeating: false, count: others.count + 1)
        common[others.count] = true
        for position in others.indices.reversed() { common[position] = others[position] == "*" && common[position + 1] }
        for scalar in one.unicodeScalars.reversed() {
            let shorter = common
            common[others.count] = scalar == "*" && shorter[others.count]
            for position in others.indices.reversed() {
                let another = others[position]
                if scalar == "*" || another == "*" {
                    // The star stands for nothing more, or for the other's next character too.
                    common[position] = shorter[position] || common[position + 1]
                } else {
                    common[position] = (scalar == "?" || another == "?" || scalar == another) && shorter[position + 1]
                }
            }
        }
        return common[0]
    }
}
