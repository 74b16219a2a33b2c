import PushStore

/// The change that a notification makes to the badge count of a user.
package struct BadgeChange: Hashable, Sendable {
    /// The increments that are allowed.
    static let range: ClosedRange<Int64> = -1000...1000
    package static let maximumCount = 99_999
    /// The counts that a user may have.
    package static let counts: ClosedRange<Int64> = 0...Int64(Self.maximumCount)

    /// The number that is added to the count, within ``range``. It is negative if something was read on another device.
    package let increment: Int

    /// `nil` for an increment outside ``range``.
    package init?(increment: Int64) {
        guard Self.range.contains(increment) else { return nil }
        self.increment = Int(increment)
    }

    /// Returns the new count after `count`.
    package func applied(to count: Int) -> Int {
        let before = min(max(count, 0), Self.maximumCount)
        return min(max(before + self.increment, 0), Self.maximumCount)
    }
}

/// The names under which the store keeps badge counts.
package enum BadgeOwner {
    /// Returns the name for a user: all devices of a user show the same count.
    package static func user(_ user: String) -> String { "user:\(user)" }

    /// Returns the name for a recipient: its user, or the device if it has no user.
    static func recipient(_ recipient: Recipient) -> BytewiseString {
        BytewiseString(recipient.profile?.user.map(Self.user) ?? "device:\(recipient.device ?? recipient.id)")
    }
}
