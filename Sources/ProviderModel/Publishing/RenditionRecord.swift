/// The file of an issue for one screen size.
package struct RenditionRecord: Hashable, Sendable {
    package let screenSize: ScreenSize
    package let file: FileRecord

    package init(screenSize: ScreenSize, file: FileRecord) { (self.screenSize, self.file) = (screenSize, file) }
}

/// The size of a screen in pixels, such as 2048x1536.
///
/// The longer side comes first, so that both orientations of a screen are one size.
package struct ScreenSize: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The allowed lengths of a side, in pixels.
    package static let sides = 1...99_999

    package let longer, shorter: Int

    /// Creates a size, or returns `nil` if a side is outside ``sides``.
    package init?(_ one: Int, _ other: Int) {
        guard Self.sides.contains(one), Self.sides.contains(other) else { return nil }
        (self.longer, self.shorter) = (max(one, other), min(one, other))
    }

    /// Reads two numbers without leading zeros around an `x`, or returns `nil` for any other text.
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

    /// Returns whether content of this size fits on a screen of another size.
    package func fits(on other: ScreenSize) -> Bool { self.longer <= other.longer && self.shorter <= other.shorter }

    /// Compares by the number of pixels, then by the longer side.
    package static func < (left: ScreenSize, right: ScreenSize) -> Bool {
        (left.longer * left.shorter, left.longer) < (right.longer * right.shorter, right.longer)
    }
}

extension IssueRecord {
    /// Returns the rendition for a screen: that of its size, or else the largest one that fits, or `nil` if none fits.
    package func rendition(for screen: ScreenSize) -> RenditionRecord? {
        self.renditions.last { $0.screenSize == screen }
            ?? self.renditions.filter { $0.screenSize.fits(on: screen) }
            .max { $0.screenSize < $1.screenSize }
    }
}
