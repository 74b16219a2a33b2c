import PushStore

/// The names under which the store keeps badge counts.
package enum BadgeOwner {
    /// Returns the name for a user: all devices of a user show the same count.
    package static func user(_ user: String) -> String { "user:\(user)" }

    /// Returns the name for a recipient: its user, or the device where it has no user.
    static func recipient(_ recipient: Recipient) -> String {
        recipient.profile?.user.map(Self.user) ?? "device:\(recipient.device ?? recipient.id)"
    }
}
