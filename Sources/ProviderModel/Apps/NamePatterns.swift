/// The tags or attributes that installations may write, by their names or by prefixes.
package struct NamePatterns: Hashable, Sendable {
    /// The maximum number of patterns of an app. A request with more is rejected.
    package static let maximum = 100

    /// The patterns. One that ends in `*` matches every name that begins with the rest.
    package var texts: [String]

    package init(_ texts: [String] = []) { self.texts = texts }

    /// Returns whether a text can be a pattern, with `*` only at its end and without control characters.
    package static func isPattern(_ text: String) -> Bool {
        !text.dropLast().contains("*") && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
    }

    package func match(_ name: String) -> Bool {
        self.texts.contains { pattern in
            pattern.last == "*"
                ? name.utf8.starts(with: pattern.utf8.dropLast()) : name.utf8.elementsEqual(pattern.utf8)
        }
    }

    /// Creates the patterns from their stored form, one pattern a line. `nil` stands for no patterns.
    package init(stored text: String?) { self.init((text ?? "").split(separator: "\n").map(String.init)) }

    /// The stored form, one pattern a line, or `nil` if there are no patterns.
    package var stored: String? { self.texts.isEmpty ? nil : self.texts.joined(separator: "\n") }
}
