package import PushTypes

/// A broadcast channel of an app, as the provider knows it.
package struct ChannelRecord: Hashable, Sendable {
    /// The maximum length of a name, in bytes. A longer one is rejected.
    package static let maximumName = 200

    package var id: ChannelID
    package var app: Int64
    package var environment: PushEnvironment
    package var storage: ChannelStorage
    /// The name that a person gave the channel, or `nil` for none.
    package var name: String?
    /// The time at which the provider learned of the channel.
    package var createdAt: Timestamp
    /// The time at which the channel was deleted, or `nil` while it exists.
    package var deletedAt: Timestamp?

    package init(
        id: ChannelID,
        app: Int64,
        environment: PushEnvironment,
        storage: ChannelStorage,
        name: String? = nil,
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.environment, self.storage) = (id, app, environment, storage)
        (self.name, self.createdAt) = (name, createdAt)
    }
}
