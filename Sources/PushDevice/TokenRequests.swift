import PushTypes
import PushWire
import Synchronization

/// Tracks the topics of a device, their tokens, and the callers that wait for a token.
final class TokenRequests: Sendable {
    private struct State {
        var topics: [TopicHash: Topic] = [:]
        var tokens: [TopicHash: String] = [:]
        /// The closure that requests the token for a new topic, or `nil` while there is no connection.
        var request: (@Sendable (Topic) -> Void)?
    }

    private let state = Mutex(State())
    private let waiters = ResponseWaiters<TopicHash, String>()

    var topics: [Topic] { self.state.withLock { Array($0.topics.values) } }

    /// Returns the requested topic with this hash, or `nil` if there is none.
    func topic(for hash: TopicHash) -> Topic? { self.state.withLock { $0.topics[hash] } }

    /// Sets the closure that requests the token for each new topic. The session passes `nil` when it ends.
    func attach(_ request: (@Sendable (Topic) -> Void)?) { self.state.withLock { $0.request = request } }

    /// Returns the token for a topic in hexadecimal: a known one immediately, otherwise that in the next response.
    /// - Throws: ``DeviceError`` if the service knows no such topic or does not respond within `timeout`.
    ///   `CancellationError` if the task is cancelled or ``end()`` is called.
    func token(for topic: Topic, timeout: Duration) async throws -> String {
        let hash = TopicHash(topic)
        if let token = self.state.withLock({ $0.tokens[hash] }) { return token }
        return try await self.waiters.response(to: hash, timeout: timeout, timeoutError: .tokenTimeout(topic.name)) {
            let (token, request) = self.state.withLock { state in
                state.topics[hash] = topic
                return (state.tokens[hash], state.request)
            }
            if let token {
                // The response arrived just before this caller was registered.
                self.waiters.resume(hash, with: .success(token))
            } else {
                request?(topic)
            }
        }
    }

    /// Passes the token, or the error for an unknown topic, to every caller that waits for the topic of the response.
    func receive(_ response: DeviceLinkTokenResponse) {
        let token = response.status == 0 ? DeviceToken(bytes: response.token)?.hex : nil
        let topic = self.state.withLock { state in
            if let token { state.tokens[response.topic] = token }
            return state.topics[response.topic]
        }
        if let token {
            self.waiters.resume(response.topic, with: .success(token))
        } else {
            self.waiters.resume(response.topic, with: .failure(.topicNotRegistered(topic?.name ?? "?")))
        }
    }

    /// Ends all waits with `CancellationError`, because no more responses will arrive.
    func end() { self.waiters.end() }
}
