/// The change that a notification makes to the badge count of a user.
package struct BadgeChange: Hashable, Sendable {
    /// The range of increments that are allowed. A request with another one is rejected.
    static let range: ClosedRange<Int64> = -1000...1000
    package static let maximumCount = 99_999
    /// The range of counts that a user may have.
    package static let counts: ClosedRange<Int64> = 0...Int64(Self.maximumCount)

    /// The number that is added to the count, within ``range``. It is negative if something was read on another device.
    package let increment: Int

    /// Creates a change, or returns `nil` for an increment outside ``range``.
    package init?(increment: Int64) {
        guard Self.range.contains(increment) else { return nil }
        self.increment = Int(increment)
    }

    /// Returns the count that results from applying the change to `count`, clamped to 0 through ``maximumCount``.
    package func applied(to count: Int) -> Int {
        let before = min(max(count, 0), Self.maximumCount)
        return min(max(before + self.increment, 0), Self.maximumCount)
    }
}
