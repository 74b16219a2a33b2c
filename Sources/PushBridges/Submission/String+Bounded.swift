extension String {
    /// Returns the longest beginning of whole scalars that has at most `count` bytes.
    func bounded(bytes count: Int) -> String {
        guard self.utf8.count > count else { return self }
        var (scalars, length) = (String.UnicodeScalarView(), 0)
        for scalar in self.unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= count else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
