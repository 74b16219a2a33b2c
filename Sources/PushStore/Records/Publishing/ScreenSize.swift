/// The size of a screen in pixels, such as 2048x1536.
///
/// A screen and the same one turned are one size: the longer side comes first.
package struct ScreenSize: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The lengths of a side, in pixels.
    package static let sides = 1...99_999

    package let longer, shorter: Int

    /// `nil` for sides that no screen has.
    package init?(_ one: Int, _ other: Int) {
        guard Self.sides.contains(one), Self.sides.contains(other) else { return nil }
        (self.longer, self.shorter) = (max(one, other), min(one, other))
    }

    /// Reads two numbers without leading zeros around an `x`; `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let one = Self.side(parts[0]), let other = Self.side(parts[1]) else { return nil }
        self.init(one, other)
    }

    private static func side(_ text: Substring) -> Int? {
        let isNumber = text.utf8.count <= 5 && text.first != "0" && text.utf8.allSatisfy { (48...57).contains($0) }
        return isNumber ? Int(text) : nil
    }

    package var description: String { "\(self.longer)x\(self.shorter)" }

    /// Returns `true` if what is made for this size is shown whole on another one.
    package func fits(on other: ScreenSize) -> Bool {
        self.longer <= other.longer && self.shorter <= other.shorter
    }

    /// Compares by the number of pixels, then by the longer side.
    package static func < (left: ScreenSize, right: ScreenSize) -> Bool {
        (left.longer * left.shorter, left.longer) < (right.longer * right.shorter, right.longer)
    }
}
