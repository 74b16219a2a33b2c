import NIOCore
import PushTypes

/// A broadcast that has passed every check (reference 4.2).
struct AcceptedBroadcast: Hashable, Sendable {
    /// The longest storage of a broadcast: 8 hours (reference 4.1).
    static let longestStorage: Duration = .seconds(8 * 3600)

    /// The bundle id of the app, without a suffix.
    var bundleID: Topic
    var channelID: String
    var policy: ChannelPolicy
    var priority: Priority
    var expiration: Expiration
    /// The JSON text.
    var payload: ByteBuffer
    /// The `apns-request-id`, which has the role of `apns-id`.
    var requestID: String

    /// Returns the end of storage of a broadcast that is accepted at `now`; `nil` if it must not be stored.
    func storageEnd(acceptedAt now: Timestamp) -> Timestamp? {
        guard self.policy == .newest, let end = self.expiration.storageEnd(acceptedAt: now) else { return nil }
        return min(end, now.advanced(by: Self.longestStorage))
    }
}
