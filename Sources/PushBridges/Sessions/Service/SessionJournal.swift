import PushStore
import Synchronization

/// The progress of sessions that is to be written, many sessions in one transaction.
///
/// It is written in the second round after it was noted, so that the pushes of the messages that it counts as dealt with are on
/// disk by then: what a crash loses in between is replayed by the server, and dropped where it was pushed.
final class SessionJournal: Sendable {
    private struct Rounds {
        var fresh: [ChatSessionKey: ChatSessionProgress] = [:]
        var aged: [ChatSessionKey: ChatSessionProgress] = [:]
    }

    private let rounds = Mutex(Rounds())

    func note(_ progress: ChatSessionProgress, _ key: ChatSessionKey) {
        self.rounds.withLock { $0.fresh[key] = progress }
    }

    /// Writes what was noted before the call before this one.
    /// - Parameter isLast: Writes all.
    func flush(to store: any ChatSessionStore, isLast: Bool = false) async throws {
        let due = self.rounds.withLock { rounds in
            var due = rounds.aged
            (rounds.aged, rounds.fresh) = (rounds.fresh, [:])
            if isLast {
                due.merge(rounds.aged) { $1 }
                rounds.aged = [:]
            }
            return due
        }
        do {
            try await store.noteChatSessions(due)
        } catch {
            // A newer record stays.
            self.rounds.withLock { $0.aged.merge(due) { present, _ in present } }
            throw error
        }
    }
}
