import Synchronization

@testable import PushBridges

/// A thread that runs functions when a test says so, and derives keys of one byte.
final class ManualThread: Sendable {
    private let waiting = Mutex<[@Sendable () -> Void]>([])
    private let names = Mutex<[String]>([])

    /// The passwords whose keys were derived.
    var derived: [String] { self.names.withLock { $0 } }

    /// Makes the derivations of this thread.
    func derivations() -> KeyDerivationQueue {
        KeyDerivationQueue(
            key: { derivation in
                self.names.withLock { $0.append(derivation.password) }
                return [42]
            },
            on: { body in self.waiting.withLock { $0.append(body) } }
        )
    }

    /// Runs what waits, and what that adds, until nothing does.
    func runAll() {
        while let body = self.waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { body() }
    }
}
