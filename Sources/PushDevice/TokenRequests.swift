import PushTypes
import PushWire
import Synchronization

/// The topics a device wants, the tokens it has for them, and the callers who wait for one.
final class TokenRequests: Sendable {
    private typealias Waiter = CheckedContinuation<String, any Error>

    private struct State {
        var topics: [TopicHash: Topic] = [:]
        var tokens: [TopicHash: String] = [:]
        var waiters: [TopicHash: [UInt64: Waiter]] = [:]
        var nextWaiter: UInt64 = 0
        /// Tells the connected session that a topic is new.
        var newTopic: (@Sendable (Topic) -> Void)?
        var hasEnded = false
    }

    private let state = Mutex(State())

    var topics: [Topic] { self.state.withLock { Array($0.topics.values) } }

    func topic(for hash: TopicHash) -> Topic? { self.state.withLock { $0.topics[hash] } }

    /// Calls `newTopic` for every topic there is, and from now on for each new one; `nil` ends that.
    func attach(_ newTopic: (@Sendable (Topic) -> Void)?) {
        self.state.withLock { $0.newTopic = newTopic }
    }

    func token(for topic: Topic, timeout: Duration) async throws -> String {
        let hash = TopicHash(topic)
        if let token = self.state.withLock({ $0.tokens[hash] }) { return token }
        return try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { try await self.wait(for: topic, hash: hash) }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw DeviceError.tokenTimeout(topic.name)
            }
            defer { group.cancelAll() }
            guard let token = try await group.next() else { throw CancellationError() }
            return token
        }
    }

    /// The service's answer: every caller who waits for this topic gets it.
    func answered(_ response: DeviceLinkTokenResponse) {
        let token = response.status == 0 ? DeviceToken(bytes: response.token)?.hex : nil
        let (topic, waiters) = self.state.withLock { state in
            if let token { state.tokens[response.topic] = token }
            return (state.topics[response.topic], state.waiters.removeValue(forKey: response.topic) ?? [:])
        }
        for waiter in waiters.values {
            if let token {
                waiter.resume(returning: token)
            } else {
                waiter.resume(throwing: DeviceError.topicNotRegistered(topic?.name ?? "?"))
            }
        }
    }

    /// No answer will come any more.
    func end() {
        let waiters = self.state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap(\.values)
        }
        for waiter in waiters {
            waiter.resume(throwing: CancellationError())
        }
    }

    private func wait(for topic: Topic, hash: TopicHash) async throws -> String {
        let id = self.state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                self.enter(waiter, id: id, topic: topic, hash: hash)
            }
        } onCancel: {
            let waiter = self.state.withLock { $0.waiters[hash]?.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private enum Entry {
        case answer(String)
        case ended
        case ask((@Sendable (Topic) -> Void)?)
    }

    private func enter(_ waiter: Waiter, id: UInt64, topic: Topic, hash: TopicHash) {
        let entry: Entry = self.state.withLock { state in
            if let token = state.tokens[hash] { return .answer(token) }
            if state.hasEnded || Task.isCancelled { return .ended }
            state.topics[hash] = topic
            state.waiters[hash, default: [:]][id] = waiter
            return .ask(state.newTopic)
        }
        switch entry {
        case .answer(let token): waiter.resume(returning: token)
        case .ended: waiter.resume(throwing: CancellationError())
        case .ask(let newTopic): newTopic?(topic)
        }
    }
}
