import Logging
import PushTypes
import Synchronization

/// The receiver of the tokens that providers should stop using (reference 6).
protocol FeedbackSink: Sendable {
    /// Adds a token, which is invalid from the time `since` on, to its topic's list. The call never blocks.
    func add(_ token: DeviceToken, topic: Topic, in environment: PushEnvironment, since: Timestamp)
}

/// The feedback lists of both environments. Entries that the routers add are written with the next group commit
/// (``GroupCommit``), for which the routers do not wait.
final class FeedbackRecorder: FeedbackSink {
    /// The maximum number of entries that are not on disk yet. Further ones are dropped. The next push to a dropped
    /// token adds it again.
    private static let maximumWaiting = 10_000

    private let sandbox: FeedbackList
    private let production: FeedbackList
    private let database: GatewayDatabase
    private let logger: Logger
    private let waiting = Atomic<Int>(0)

    init(database: GatewayDatabase, logger: Logger) {
        self.sandbox = FeedbackList(database: database, environment: .sandbox)
        self.production = FeedbackList(database: database, environment: .production)
        (self.database, self.logger) = (database, logger)
    }

    func list(_ environment: PushEnvironment) -> FeedbackList {
        switch environment {
        case .sandbox: self.sandbox
        case .production: self.production
        }
    }

    func add(_ token: DeviceToken, topic: Topic, in environment: PushEnvironment, since: Timestamp) {
        let list = self.list(environment)
        guard self.waiting.load(ordering: .relaxed) < Self.maximumWaiting else { return }
        self.waiting.add(1, ordering: .relaxed)
        let entry = FeedbackEntry(topic: topic, token: token, time: since)
        self.database.commit {
            try list.add(entry, in: $0)
        } completion: { result in
            self.waiting.subtract(1, ordering: .relaxed)
            if case .failure(let error) = result {
                self.logger.error("feedback could not be stored", metadata: ["error": "\(error)"])
            }
        }
    }
}
