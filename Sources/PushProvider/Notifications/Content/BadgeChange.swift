/// How a notification changes the count that the server keeps for a user.
package struct BadgeChange: Hashable, Sendable {
    /// What may be added at once.
    package static let range: ClosedRange<Int64> = -1000...1000
    /// The highest count kept.
    package static let maximumCount = 99_999

    /// Added to the count, within ``range``; below zero where something has been read elsewhere.
    package let increment: Int

    /// `nil` for an increment out of ``range``.
    package init?(increment: Int64) {
        guard Self.range.contains(increment) else { return nil }
        self.increment = Int(increment)
    }

    /// The count that the device is to show, when it was `count`.
    package func applied(to count: Int) -> Int {
        let before = min(max(count, 0), Self.maximumCount)
        return min(max(before + self.increment, 0), Self.maximumCount)
    }
}
