import ProviderModel
import PushStore

/// The keys under which the store keeps badge counts.
package enum BadgeHolder {
    /// Returns the key for a user. All devices of a user show the same count.
    package static func user(_ user: String) -> String { "user:\(user)" }

    /// Returns the key for a recipient: that of its user, or of its device if it has no user.
    static func recipient(_ recipient: Recipient) -> BytewiseString {
        BytewiseString(recipient.profile?.user.map(Self.user) ?? "device:\(recipient.device ?? recipient.id)")
    }
}
