package import PushSender
package import PushTypes
import Synchronization

/// The channels of a push service in memory, which fails as told.
package final class ScriptedChannels: ChannelServiceClient {
    private struct State {
        var channels: [(id: ChannelID, app: Topic, storage: ChannelStorage)] = []
        var made = 0
        var failures: [ChannelServiceError] = []
        var requests = 0
        var onCreate: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// The ids of the channels that are there.
    package var ids: [ChannelID] { self.state.withLock { $0.channels.map(\.id) } }
    /// The number of requests.
    package var requests: Int { self.state.withLock { $0.requests } }

    /// Makes the next request fail.
    package func fail(_ error: ChannelServiceError) { self.state.withLock { $0.failures.append(error) } }

    /// Makes the next request fail with a reason of the push service.
    package func reject(_ reason: Reason) {
        self.fail(.rejected(Rejection(status: reason.status, reasonText: reason.rawValue)))
    }

    /// Runs in the task of each creation, once the channel is there.
    package func onCreate(_ action: @escaping @Sendable () -> Void) { self.state.withLock { $0.onCreate = action } }

    /// Adds a channel that another client has made.
    package func add(_ id: ChannelID, of app: Topic, storing storage: ChannelStorage = .none) {
        self.state.withLock { $0.channels.append((id, app, storage)) }
    }

    /// Removes a channel behind the provider's back.
    package func remove(_ id: ChannelID) { self.state.withLock { $0.channels.removeAll { $0.id == id } } }

    private func perform<Value: Sendable>(
        _ body: (inout State) throws(ChannelServiceError) -> Value
    ) throws(ChannelServiceError) -> Value {
        try self.state.withLock { state throws(ChannelServiceError) in
            state.requests += 1
            if !state.failures.isEmpty { throw state.failures.removeFirst() }
            return try body(&state)
        }
    }

    private static let unknown = ChannelServiceError.rejected(
        Rejection(status: 400, reasonText: Reason.channelNotRegistered.rawValue)
    )

    @concurrent
    package func createChannel(storing storage: ChannelStorage, for bundleID: Topic) async throws(ChannelServiceError)
        -> ChannelID
    {
        let id = try self.perform { state throws(ChannelServiceError) in
            state.made += 1
            guard let id = ChannelID("channel\(state.made)/A=") else { throw .malformed("no id") }
            state.channels.append((id, bundleID, storage))
            return id
        }
        self.state.withLock { $0.onCreate }?()
        return id
    }

    @concurrent
    package func storage(of channel: ChannelID, of bundleID: Topic) async throws(ChannelServiceError) -> ChannelStorage
    {
        try self.perform { state throws(ChannelServiceError) in
            guard let found = state.channels.first(where: { $0.id == channel && $0.app == bundleID }) else {
                throw Self.unknown
            }
            return found.storage
        }
    }

    @concurrent
    package func channels(of bundleID: Topic) async throws(ChannelServiceError) -> [ChannelID] {
        try self.perform { state throws(ChannelServiceError) in
            state.channels.filter { $0.app == bundleID }.map(\.id)
        }
    }

    @concurrent
    package func deleteChannel(_ channel: ChannelID, of bundleID: Topic) async throws(ChannelServiceError) {
        try self.perform { state throws(ChannelServiceError) in
            guard let index = state.channels.firstIndex(where: { $0.id == channel && $0.app == bundleID }) else {
                throw Self.unknown
            }
            state.channels.remove(at: index)
        }
    }
}
