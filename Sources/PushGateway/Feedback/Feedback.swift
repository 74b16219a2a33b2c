import Logging
import PushProtocol
import Synchronization

/// The feedback lists of all environments, as the core fills them: with the next group commit, waited for by nobody.
final class Feedback: FeedbackSink {
    /// Entries that wait for the disk; more are dropped, the next push to such a token brings them back.
    private static let maximumWaiting = 10_000

    let stores: [PushEnvironment: FeedbackStore]
    private let commit: GroupCommit
    private let logger: Logger
    private let waiting = Atomic<Int>(0)

    init(stores: [PushEnvironment: FeedbackStore], commit: GroupCommit, logger: Logger) {
        self.stores = stores
        self.commit = commit
        self.logger = logger
    }

    func add(_ token: DeviceToken, topic: Topic, in environment: PushEnvironment, since: Timestamp) {
        guard let store = self.stores[environment], self.waiting.load(ordering: .relaxed) < Self.maximumWaiting else {
            return
        }
        self.waiting.add(1, ordering: .relaxed)
        let entry = FeedbackEntry(topic: topic, token: token, time: since)
        self.commit.add {
            try store.add(entry, in: $0)
        } completion: { result in
            self.waiting.subtract(1, ordering: .relaxed)
            if case .failure(let error) = result {
                self.logger.error("feedback could not be stored", metadata: ["error": "\(error)"])
            }
        }
    }
}
