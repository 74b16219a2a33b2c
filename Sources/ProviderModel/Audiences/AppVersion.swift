/// A version such as `2.10.1`, comparable part by part.
package struct AppVersion: Hashable, Sendable, Comparable {
    package let text: String
    /// The number by which versions are compared: the first three parts with 20 bits each, so that 2.10.1 is less than
    /// 2.11. Larger parts saturate.
    package let number: Int64

    /// Reads a version, or returns `nil` if the text does not begin with a number. A suffix such as `-beta` is ignored.
    package init?(_ text: String) {
        var parts: [Int64] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false).prefix(3) {
            let digits = part.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { break }
            parts.append(min(Int64(digits) ?? Self.largestPart, Self.largestPart))
            guard digits.endIndex == part.endIndex else { break }
        }
        guard !parts.isEmpty else { return nil }
        self.text = text
        self.number = (0..<3).reduce(0) { $0 << 20 | (parts.indices.contains($1) ? parts[$1] : 0) }
    }

    private static let largestPart: Int64 = 1 << 20 - 1

    package static func < (left: AppVersion, right: AppVersion) -> Bool { left.number < right.number }
}
