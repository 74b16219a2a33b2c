package import Foundation
import Logging
import PushStore
package import PushTypes
import ServiceLifecycle
import Synchronization

/// Writes the times of the last requests of API keys, together once a minute: no request waits for it.
package final class KeyUsageWriter: Service {
    /// The time between two writes.
    private static let pause: Duration = .seconds(60)

    private let store: any APIKeyStore
    private let logger: Logger
    /// The times that are not written yet.
    private let pending = Mutex<[UUID: Timestamp]>([:])

    init(store: any APIKeyStore, logger: Logger) { (self.store, self.logger) = (store, logger) }

    /// Notes a request.
    func note(_ key: UUID, at now: Timestamp) { self.pending.withLock { $0[key] = now } }

    /// Returns the time of a key's last request if it is not written yet.
    package func latest(_ key: UUID) -> Timestamp? { self.pending.withLock { $0[key] } }

    /// Writes the times until shutdown, and the last ones then.
    package func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.pause, clock: .continuous)) != nil { await self.flush() }
        }
        await self.flush()
    }

    /// Writes the times that are pending. Those that could not be written are written with the next ones.
    package func flush() async {
        let uses = self.pending.withLock { pending in
            defer { pending = [:] }
            return pending
        }
        guard !uses.isEmpty else { return }
        do {
            try await self.store.setLastUses(uses)
        } catch {
            self.logger.warning("last uses of keys could not be written", metadata: ["error": "\(error)"])
            self.pending.withLock { $0.merge(uses) { later, _ in later } }
        }
    }
}
