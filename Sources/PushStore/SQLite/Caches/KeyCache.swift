import Synchronization

/// The API keys that were looked up, so that a request is authorized without the database. Every change of keys empties
/// the cache before the change returns.
final class KeyCache: Sendable {
    private struct State {
        var keys: [[UInt8]: APIKeyRecord] = [:]
        /// The number of changes so far.
        var change = 0
    }

    /// The most keys that are kept.
    private static let maximum = 10_000

    private let state = Mutex(State())

    /// The number of changes so far, to be read before the database is (``keep(_:_:since:)``).
    var change: Int { self.state.withLock { $0.change } }

    /// Returns the key with this hash if it was kept.
    func key(_ hash: [UInt8]) -> APIKeyRecord? { self.state.withLock { $0.keys[hash] } }

    /// Keeps a key.
    /// - Parameter change: The number of changes before the key was read. After another change it is not kept, as it
    ///   may have been deleted meanwhile.
    func keep(_ key: APIKeyRecord, _ hash: [UInt8], since change: Int) {
        self.state.withLock { state in
            guard state.change == change else { return }
            if state.keys.count >= Self.maximum { state.keys = [:] }
            state.keys[hash] = key
        }
    }

    /// Empties the cache.
    func forget() {
        self.state.withLock { state in
            state.change += 1
            state.keys = [:]
        }
    }
}
