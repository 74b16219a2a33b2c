import ProviderModel
import PushStore
import Synchronization

/// The progress of chat sessions that is not in the store yet. One transaction writes the progress of many sessions.
///
/// Progress is written in the second round after it was noted, because by then the pushes of the messages that it
/// covers are on disk. After a crash in between, the server replays the messages, and repeated pushes are dropped.
final class SessionJournal: Sendable {
    private struct Rounds {
        var fresh: [ChatSessionKey: ChatSessionProgress] = [:]
        var aged: [ChatSessionKey: ChatSessionProgress] = [:]
    }

    private let rounds = Mutex(Rounds())

    func note(_ progress: ChatSessionProgress, _ key: ChatSessionKey) {
        self.rounds.withLock { $0.fresh[key] = progress }
    }

    /// Writes the progress that was noted before the previous call. If that fails, the next call tries again.
    /// - Parameter isLast: Whether progress that was noted since the previous call is written too.
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
            // Newer progress takes precedence over older.
            self.rounds.withLock { $0.aged.merge(due) { present, _ in present } }
            throw error
        }
    }
}
