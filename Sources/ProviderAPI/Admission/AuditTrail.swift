import Logging
import PushHTTP
import PushStore
import PushSupport
import Synchronization

/// Writes the changes by API key. Every change that was made has an entry of its own. Failed requests are aggregated,
/// so that no caller can fill the store with them.
final class AuditTrail: Sendable {
    private let store: any AuditStore
    private let time: any TimeSource
    private let logger: Logger
    private let failed = Mutex(AuditAggregator())

    init(store: any AuditStore, time: any TimeSource, logger: Logger) {
        (self.store, self.time, self.logger) = (store, time, logger)
    }

    /// Writes an entry for a request. A failure to do so is logged, because the change was made.
    ///
    /// - Parameter action: The method and path.
    func record(_ action: String, status: Int, key: APIKeyRecord) async {
        do {
            guard status >= 400 else { return _ = try await self.write(action, status, key) }
            try await self.recordFailed(AuditAggregator.Kind(action: action, status: status), key)
        } catch {
            self.logger.error(
                "audit entry could not be written",
                metadata: ["action": "\(Self.logged(action))", "key": "\(key.id)", "error": "\(error)"]
            )
        }
    }

    /// Returns a method and path as a log line may show them.
    private static func logged(_ action: String) -> String {
        guard let space = action.firstIndex(of: " ") else { return action }
        return "\(action[...space])\(RedactedPath.of(String(action[action.index(after: space)...])))"
    }

    /// Writes the counts that entries lack. Call it before entries are read.
    func flush() async throws {
        let counts = self.failed.withLock { $0.takePending(now: .now) }
        for (id, count) in counts { try await self.store.setAuditCount(count, of: id) }
    }

    /// Counts a failed request, and writes what the aggregator asks for. An entry that could not be written is tried
    /// again with the next failure.
    private func recordFailed(_ kind: AuditAggregator.Kind, _ key: APIKeyRecord) async throws {
        switch self.failed.withLock({ $0.add(kind, of: key.id, now: .now) }) {
        case .none: break
        case .count(let count, let entry): try await self.store.setAuditCount(count, of: entry)
        case .write(let kind):
            do {
                let id = try await self.write(kind.action, kind.status, key)
                self.failed.withLock { $0.written(kind, as: id, of: key.id) }
            } catch {
                self.failed.withLock { $0.writeFailed(kind, of: key.id) }
                throw error
            }
        }
    }

    /// Writes an entry, and returns its id.
    private func write(_ action: String, _ status: Int, _ key: APIKeyRecord) async throws -> Int64 {
        let at = self.time.recorded
        let record = AuditRecord(at: at, key: key.id, keyName: key.name, action: action, status: status)
        return try await self.store.addAudit(record)
    }
}
