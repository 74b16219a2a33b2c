import PushTypes

/// The storage of a channel for followers that are offline (reference 4.1).
enum ChannelPolicy: Int, Hashable, Sendable {
    case nothing = 0
    /// The most recent broadcast, for at most 8 hours.
    case newest = 1
}

/// A broadcast channel of an app.
struct RegisteredChannel: Hashable, Sendable {
    var environment: PushEnvironment
    var name: ChannelName
    var policy: ChannelPolicy
}
