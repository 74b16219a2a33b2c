import GRDB
import Logging
import PushTypes
import Synchronization

/// The feedback lists of all environments, as the core fills them: with the next group commit, waited for by nobody.
final class Feedback: FeedbackSink {
    /// Entries that wait for the disk; more are dropped, the next push to such a token brings them back.
    private static let maximumWaiting = 10_000

    private let sandbox: FeedbackStore
    private let production: FeedbackStore
    private let commit: GroupCommit
    private let logger: Logger
    private let waiting = Atomic<Int>(0)

    init(database: any DatabaseWriter, commit: GroupCommit, logger: Logger) {
        self.sandbox = FeedbackStore(database: database, environment: .sandbox)
        self.production = FeedbackStore(database: database, environment: .production)
        self.commit = commit
        self.logger = logger
    }

    func store(_ environment: PushEnvironment) -> FeedbackStore {
        switch environment {
        case .sandbox: self.sandbox
        case .production: self.production
        }
    }

    func add(_ token: DeviceToken, topic: Topic, in environment: PushEnvironment, since: Timestamp) {
        let store = self.store(environment)
        guard self.waiting.load(ordering: .relaxed) < Self.maximumWaiting else { return }
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
