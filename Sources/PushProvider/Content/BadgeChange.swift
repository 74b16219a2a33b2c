/// How a notification changes the count that the server keeps for a user.
package struct BadgeChange: Hashable, Sendable {
    /// What may be added at once.
    package static let range: ClosedRange<Int64> = -1000...1000
    /// The highest count kept.
    package static let maximumCount = 99_999

    /// Added to the count; below zero where something has been read elsewhere.
    package var increment: Int

    /// The count that the device is to show, when it was `count`.
    package func applied(to count: Int) -> Int {
        let (sum, overflow) = count.addingReportingOverflow(self.increment)
        return overflow ? Self.maximumCount : min(max(sum, 0), Self.maximumCount)
    }
}
