import Synchronization

/// The legacy providers' broken connections that still have notifications to store.
///
/// A legacy provider whose connection broke sends the pushes that it remembers again over a new connection. The new
/// connection waits until the broken one has stored its pushes, because only then it is known which of them are stored.
final class DrainingConnections: Sendable {
    private struct State {
        /// The numbers of the broken connections, by the fingerprint of their certificate.
        var ending: [String: Set<UInt64>] = [:]
        var waiting: [String: [CheckedContinuation<Bool, Never>]] = [:]
        var waitingForAll: [CheckedContinuation<Void, Never>] = []

        mutating func takeWaitingForAll() -> [CheckedContinuation<Void, Never>] {
            defer { self.waitingForAll = [] }
            return self.waitingForAll
        }
    }

    private let state = Mutex(State())

    func begin(_ connection: BinaryIntake.Connection) {
        self.state.withLock { _ = $0.ending[connection.client.fingerprint, default: []].insert(connection.number) }
    }

    func end(_ connection: BinaryIntake.Connection) {
        let fingerprint = connection.client.fingerprint
        let (waiting, waitingForAll) = self.state.withLock { state in
            guard state.ending[fingerprint]?.remove(connection.number) != nil else {
                return ([CheckedContinuation<Bool, Never>](), [CheckedContinuation<Void, Never>]())
            }
            if state.ending[fingerprint]?.isEmpty ?? false { state.ending[fingerprint] = nil }
            let waiting = state.waiting.removeValue(forKey: fingerprint) ?? []
            return (waiting, state.ending.isEmpty ? state.takeWaitingForAll() : [])
        }
        for waiter in waiting { waiter.resume(returning: true) }
        for waiter in waitingForAll { waiter.resume() }
    }

    /// Waits until the client has no older broken connection with notifications to store. Newer connections are
    /// ignored, so that no two connections wait for each other.
    func waitForOlder(than connection: BinaryIntake.Connection) async {
        let fingerprint = connection.client.fingerprint
        var hasWaited = true
        while hasWaited {
            hasWaited = await withCheckedContinuation { continuation in
                let waits = self.state.withLock { state in
                    guard let ending = state.ending[fingerprint], ending.contains(where: { $0 < connection.number })
                    else { return false }
                    state.waiting[fingerprint, default: []].append(continuation)
                    return true
                }
                if !waits { continuation.resume(returning: false) }
            }
        }
    }

    /// Waits until no broken connection has notifications to store, but no longer than `limit`.
    func waitForAll(atMost limit: Duration) async {
        let timer = Task {
            try await Task.sleep(for: limit)
            for waiter in self.state.withLock({ $0.takeWaitingForAll() }) { waiter.resume() }
        }
        defer { timer.cancel() }
        await withCheckedContinuation { continuation in
            let isEmpty = self.state.withLock { state in
                if !state.ending.isEmpty { state.waitingForAll.append(continuation) }
                return state.ending.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }
}
