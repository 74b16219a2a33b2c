import Synchronization

/// A place where responses wait until it is opened.
final class Gate: Sendable {
    private let waiters = Mutex<[CheckedContinuation<Void, Never>]?>([])

    func pass() async {
        await withCheckedContinuation { waiter in
            let isOpen = self.waiters.withLock { waiters in
                waiters?.append(waiter)
                return waiters == nil
            }
            if isOpen { waiter.resume() }
        }
    }

    func open() {
        let waiting = self.waiters.withLock { waiters in
            defer { waiters = nil }
            return waiters ?? []
        }
        for waiter in waiting { waiter.resume() }
    }
}
