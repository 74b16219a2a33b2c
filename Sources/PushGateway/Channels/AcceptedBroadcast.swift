import NIOCore
import PushTypes

/// A broadcast that passed every check, on its way to all who follow its channel (reference 4.2).
struct AcceptedBroadcast: Hashable, Sendable {
    /// A broadcast is stored for at most 8 hours (reference 4.1).
    static let longestStorage: Duration = .seconds(8 * 3600)

    /// The app's, without a suffix.
    var bundleID: Topic
    var channelID: String
    var policy: ChannelPolicy
    var priority: Priority
    var expiration: Expiration
    /// The JSON text.
    var payload: ByteBuffer
    /// Plays the role of `apns-id`.
    var requestID: String

    /// The moment at which a broadcast accepted at `now` is dropped, or `nil` if it must not be stored at all.
    func storageEnd(acceptedAt now: Timestamp) -> Timestamp? {
        guard self.policy == .newest, let end = self.expiration.storageEnd(acceptedAt: now) else { return nil }
        return min(end, now.advanced(by: Self.longestStorage))
    }
}

/// Takes accepted broadcasts: the core behind all provider doors of one environment.
protocol BroadcastSubmitter: Sendable {
    /// Never blocks. The owner hears of it once, like of a push.
    func submit(_ broadcast: AcceptedBroadcast, owner: any SubmissionDelegate, ticket: UInt32)
    /// The channel is no more: nobody follows it, nothing is stored for it.
    func channelDeleted(bundleID: Topic, channelID: String)
}
