import Synchronization

/// API keys that were asked for, so that a request need not wait for the database to be let in. Every change of keys empties
/// it before the change is answered.
final class KeyCache: Sendable {
    private struct State {
        var keys: [[UInt8]: APIKeyRecord] = [:]
        /// Goes up with each change.
        var change = 0
    }

    private static let maximum = 10_000

    private let state = Mutex(State())

    /// To be noted before the database is read, see ``keep(_:_:since:)``.
    var change: Int { self.state.withLock { $0.change } }

    func key(_ hash: [UInt8]) -> APIKeyRecord? {
        self.state.withLock { $0.keys[hash] }
    }

    /// - Parameter change: as it was before the key was read: it may have been deleted meanwhile.
    func keep(_ key: APIKeyRecord, _ hash: [UInt8], since change: Int) {
        self.state.withLock { state in
            guard state.change == change else { return }
            if state.keys.count >= Self.maximum { state.keys = [:] }
            state.keys[hash] = key
        }
    }

    func forget() {
        self.state.withLock { state in
            state.change += 1
            state.keys = [:]
        }
    }
}
