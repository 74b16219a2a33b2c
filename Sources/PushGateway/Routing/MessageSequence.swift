import PushTypes
import Synchronization

/// Numbers for messages and sessions, shared by all environments of a gateway.
final class MessageSequence: Sendable {
    private let last: Atomic<Int64>
    private let lastSession = Atomic<UInt64>(0)

    /// - Parameter last: the highest number that was given before.
    init(last: Int64) {
        self.last = Atomic(last)
    }

    func next() -> Int64 { self.last.add(1, ordering: .relaxed).newValue }

    func nextSession() -> DeviceSession.ID { self.lastSession.add(1, ordering: .relaxed).newValue }
}

/// Where tokens go that providers should stop to use (reference 6).
protocol FeedbackSink: Sendable {
    /// Never blocks.
    func add(_ token: DeviceToken, topic: Topic, in environment: PushEnvironment, since: Timestamp)
}
