/// The part of a file that a request selects with its `range` field (RFC 9110 section 14).
package enum ByteRange: Hashable, Sendable {
    /// The whole file: the field is absent, invalid, or has several ranges.
    case whole
    case part(Range<Int>)
    /// A range that contains no byte of the file.
    case unsatisfiable

    /// Parses the field of a request for a file.
    /// - Parameter size: The size of the file in bytes, 1 or more.
    package init(_ field: String?, size: Int) {
        guard let field, let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else {
            self = .whole
            return
        }
        let text = field[field.index(after: equals)...].filter { $0 != " " && $0 != "\t" }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }) else {
            self = .whole
            return
        }
        // A number that does not fit into an `Int` is beyond the end of any file.
        func number(_ digits: Substring) -> Int? { digits.isEmpty ? nil : Int(digits) ?? .max }
        switch (number(parts[0]), number(parts[1])) {
        case (nil, nil): self = .whole
        case (nil, let suffix?): self = suffix == 0 ? .unsatisfiable : .part(max(0, size - min(suffix, size))..<size)
        case (let first?, nil): self = first < size ? .part(first..<size) : .unsatisfiable
        case (let first?, let last?):
            // A range that ends before it begins is invalid, and ignored.
            if first > last {
                self = .whole
            } else {
                self = first < size ? .part(first..<(min(last, size - 1) + 1)) : .unsatisfiable
            }
        }
    }
}
