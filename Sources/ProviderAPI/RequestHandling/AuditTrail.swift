import Logging
import ProviderModel
import PushHTTP
import PushStore
import PushSupport
import Synchronization

/// Writes audit entries for the changes of API keys and people. Each change has its own entry, except for frequent
/// changes. Frequent changes and failed requests are aggregated, so that no caller can fill the store with entries.
final class AuditTrail: Sendable {
    private let store: any AuditStore
    private let time: any TimeSource
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private let counted = Mutex(Counted())

    private struct Counted {
        var failed = AuditAggregator()
        /// The aggregator of frequent changes, such as registrations and sent notifications.
        var made = AuditAggregator()
    }

    init(store: any AuditStore, time: any TimeSource, logger: Logger) {
        (self.store, self.time, self.instant, self.logger) = (store, time, time.instants, logger)
    }

    /// Writes an entry for a request of `caller`. If that fails, the failure is only logged, because the change has
    /// already been made.
    /// - Parameters:
    ///   - action: The HTTP method and the path.
    ///   - resource: The id of the object that the request created, or `nil` if it created none.
    ///   - isFrequent: Pass `true` to let equal changes of the caller within a minute share an entry.
    func record(
        _ action: String,
        resource: String? = nil,
        status: Int,
        by caller: APICaller,
        isFrequent: Bool = false
    ) async {
        do {
            guard isFrequent || status >= 400 else { return _ = try await self.write(action, resource, status, caller) }
            try await self.count(AuditAggregator.Kind(action: action, status: status), caller)
        } catch {
            self.logger.error(
                "audit entry could not be written",
                metadata: ["action": "\(Self.logged(action))", "key": "\(caller.id)", "error": "\(error)"]
            )
        }
    }

    private static func logged(_ action: String) -> String {
        guard let space = action.firstIndex(of: " ") else { return action }
        return "\(action[...space])\(RedactedPath.of(String(action[action.index(after: space)...])))"
    }

    /// Writes the pending counts to the store. It must be called before entries are read.
    func flush() async throws {
        let now = self.instant()
        let counts = self.counted.withLock { counted in
            counted.failed.takePending(now: now).merging(counted.made.takePending(now: now)) { $1 }
        }
        for (id, count) in counts { try await self.store.setAuditCount(count, of: id) }
    }

    /// Counts a request, and performs the write that the aggregator requires. If the write fails, the next equal
    /// request leads to another attempt.
    private func count(_ kind: AuditAggregator.Kind, _ caller: APICaller) async throws {
        let (isFailure, now) = (kind.status >= 400, self.instant())
        switch self.aggregator(isFailure, { $0.add(kind, of: caller.id, now: now) }) {
        case .none: break
        case .count(let count, let entry): try await self.store.setAuditCount(count, of: entry)
        case .write(let kind):
            do {
                let id = try await self.write(kind.action, nil, kind.status, caller)
                self.aggregator(isFailure) { $0.written(kind, as: id, of: caller.id) }
            } catch {
                self.aggregator(isFailure) { $0.writeFailed(kind, of: caller.id) }
                throw error
            }
        }
    }

    /// Calls `body` with the aggregator for failed requests or for frequent changes, while holding the lock.
    private func aggregator<Value: Sendable>(_ isFailure: Bool, _ body: (inout AuditAggregator) -> Value) -> Value {
        self.counted.withLock { isFailure ? body(&$0.failed) : body(&$0.made) }
    }

    private func write(_ action: String, _ resource: String?, _ status: Int, _ caller: APICaller) async throws -> Int64
    {
        let record = AuditRecord(
            at: self.time.recorded,
            key: caller.id,
            keyName: caller.name,
            isPerson: caller.isPerson,
            action: action,
            resource: resource,
            status: status
        )
        return try await self.store.addAudit(record)
    }
}

extension AuditTrail {
    /// Returns whether the changes of an operation share audit entries instead of having an entry each, or `nil` for an
    /// operation that changes nothing.
    static func isFrequent(_ effect: OperationEffect) -> Bool? {
        switch effect {
        case .readOnly: nil
        case .audited: false
        case .unaudited: true
        }
    }

    /// The names of the path parameters whose values identify a person.
    private static let hidden: Set<String> = ["user", "token", "installation"]

    /// Returns the path for the audit trail without users, tokens and installations, because those must not remain
    /// there after an erasure. Consecutive slashes are treated as one, as by the router.
    static func path(_ path: String, of operation: ProviderOperation) -> String {
        guard operation.pathParameters.contains(where: Self.hidden.contains) else { return path }
        let hidden = Set(Self.hidden.map { "{\($0)}"[...] })
        let names = operation.path.split(separator: "/")
        return path.split(separator: "/").enumerated().map { index, part in
            "/\(index < names.count && hidden.contains(names[index]) ? names[index] : part)"
        }.joined()
    }
}
