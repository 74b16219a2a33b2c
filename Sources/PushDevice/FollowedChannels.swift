import PushProtocol
import Synchronization

/// The broadcast channels that a device wants to follow.
final class FollowedChannels: Sendable {
    private struct State {
        var requests: Set<CourierChannelRequest> = []
        /// Asks the service, while there is a connection.
        var ask: (@Sendable (CourierChannelRequest) -> Void)?
    }

    private let state = Mutex(State())

    /// Calls `ask` for each channel there is, and from now on for each new one; `nil` ends that.
    func attach(_ ask: (@Sendable (CourierChannelRequest) -> Void)?) {
        let requests = self.state.withLock { state in
            state.ask = ask
            return state.requests
        }
        for request in requests { ask?(request) }
    }

    func add(_ request: CourierChannelRequest) {
        let ask = self.state.withLock { $0.requests.insert(request).inserted ? $0.ask : nil }
        ask?(request)
    }
}
