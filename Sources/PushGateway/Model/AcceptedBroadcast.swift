import PushTypes

/// A broadcast that has passed every check (reference 4.2).
struct AcceptedBroadcast: Hashable, Sendable {
    /// The longest storage of a broadcast: 8 hours (reference 4.1).
    static let longestStorage: Duration = .seconds(8 * 3600)

    var channel: ChannelName
    var policy: ChannelPolicy
    /// The notification. Its id is the `apns-request-id`.
    var notification: PushNotification

    /// Returns the end of storage of a broadcast that is accepted at `now`; `nil` if it must not be stored.
    func storageEnd(acceptedAt now: Timestamp) -> Timestamp? {
        guard self.policy == .newest, let end = self.notification.expiration.storageEnd(acceptedAt: now)
        else { return nil }
        return min(end, now.advanced(by: Self.longestStorage))
    }
}
