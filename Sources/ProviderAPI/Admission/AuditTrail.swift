import Foundation
import Logging
import PushHTTP
import PushStore
import PushSupport
import Synchronization

/// Writes which key changed what. Every change that was made has an entry of its own; refusals are merged, so that no caller fills
/// the store by being refused.
final class AuditTrail: Sendable {
    private let store: any AuditStore
    private let time: any TimeSource
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private let refusals = Mutex(AuditAggregator())

    init(
        store: any AuditStore,
        time: any TimeSource,
        logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.store = store
        self.time = time
        self.clock = clock
        self.logger = logger
    }

    /// What was changed stands even if this fails: it is said in the log then.
    func record(_ action: String, status: Int, key: APIKeyRecord) async {
        do {
            guard status >= 400 else { return _ = try await self.write(action, status, key) }
            try await self.recordRefusal(AuditAggregator.Kind(action: action, status: status), key)
        } catch {
            self.logger.error(
                "an audit entry could not be written",
                metadata: ["action": "\(Self.logged(action))", "key": "\(key.id)", "error": "\(error)"]
            )
        }
    }

    /// A method and a path, as they may stand in a log.
    private static func logged(_ action: String) -> String {
        guard let space = action.firstIndex(of: " ") else { return action }
        return "\(action[...space])\(RedactedPath.of(String(action[action.index(after: space)...])))"
    }

    /// Writes the counts that entries lack, before they are read.
    func settle() async throws {
        let owed = self.refusals.withLock { $0.takeOwed(now: self.clock()) }
        for (id, count) in owed { try await self.store.setAuditCount(count, of: id) }
    }

    private func recordRefusal(_ kind: AuditAggregator.Kind, _ key: APIKeyRecord) async throws {
        switch self.refusals.withLock({ $0.add(kind, of: key.id, now: self.clock()) }) {
        case .nothing: break
        case .count(let count, let entry): try await self.store.setAuditCount(count, of: entry)
        case .write(let kind):
            do {
                let id = try await self.write(kind.action, kind.status, key)
                self.refusals.withLock { $0.wrote(kind, as: id, of: key.id) }
            } catch {
                self.refusals.withLock { $0.failed(kind, of: key.id) }
                throw error
            }
        }
    }

    private func write(_ action: String, _ status: Int, _ key: APIKeyRecord) async throws -> Int64 {
        try await self.store.addAudit(
            AuditRecord(at: self.time.recorded, key: key.id, keyName: key.name, action: action, status: status)
        )
    }
}
