/// The sessions that wait for their turn to connect, those of an app in their order.
///
/// The next one is of the app with the fewest that connect now: servers that do not respond hold up few sessions of other apps.
struct OpeningQueue<Session: Sendable>: Sendable {
    private struct Waiting {
        /// The number in the order of arrival, over all apps.
        var number: Int
        var session: Session
    }

    private struct App {
        var connecting = 0
        /// Those that came last, in their order.
        private var added: [Waiting] = []
        /// Those before them, the next one last.
        private var next: [Waiting] = []

        /// The number of the next one; `nil` if none waits.
        var first: Int? { (self.next.last ?? self.added.first)?.number }
        var isUnused: Bool { self.connecting == 0 && self.first == nil }

        mutating func add(_ waiting: Waiting) { self.added.append(waiting) }

        mutating func take() -> Session? {
            if self.next.isEmpty { (self.next, self.added) = (self.added.reversed(), []) }
            return self.next.popLast()?.session
        }
    }

    private var apps: [Int64: App] = [:]
    private var last = 0

    mutating func add(_ session: Session, of app: Int64) {
        self.last += 1
        self.apps[app, default: App()].add(Waiting(number: self.last, session: session))
    }

    /// Takes the session whose turn it is; ``end(of:)`` follows. `nil` if none waits.
    mutating func take() -> Session? {
        let waiting = self.apps.compactMap { app, state in
            state.first.map { (app: app, order: (state.connecting, $0)) }
        }
        guard let app = waiting.min(by: { $0.order < $1.order })?.app else { return nil }
        self.apps[app]?.connecting += 1
        return self.apps[app]?.take()
    }

    /// A session of an app connects no more.
    mutating func end(of app: Int64) {
        self.apps[app]?.connecting -= 1
        if self.apps[app]?.isUnused ?? false { self.apps[app] = nil }
    }
}
