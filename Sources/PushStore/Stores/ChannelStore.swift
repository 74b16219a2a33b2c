package import PushTypes

/// The broadcast channels of apps.
package protocol ChannelStore: Sendable {
    /// Adds a channel, unless it is there. One that counted as deleted is there again.
    ///
    /// Channels of the app that were deleted more than 90 days before its `createdAt` are forgotten.
    /// - Returns: The channel as it is stored.
    func addChannel(_ channel: ChannelRecord) async throws -> ChannelRecord
    /// Returns a channel, also one that was deleted; `nil` if there is none.
    /// - Parameter environment: The environment; `nil` for the one that has a channel with this id: one that was not deleted
    ///   before one that was, then sandbox before production.
    func channel(_ id: ChannelID, app: Int64, environment: PushEnvironment?) async throws -> ChannelRecord?
    /// Returns the channels of an app that were not deleted: those of sandbox before those of production, the oldest first,
    /// and those of the same time in the order of the bytes of their ids.
    func channels(app: Int64, environment: PushEnvironment?) async throws -> [ChannelRecord]
    /// Notes that a channel was deleted.
    /// - Returns: `false` if there is none that was not.
    func channelDeleted(_ id: ChannelID, app: Int64, environment: PushEnvironment, at: Timestamp) async throws -> Bool
}
