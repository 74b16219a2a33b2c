/// Decides the order in which names are looked up.
///
/// A look-up cannot be cancelled, and one of a name whose servers do not respond takes half a minute and more. So a name is
/// looked up once at a time, an app has few slots, and names that were never found leave some slots to the others.
struct ResolverQueue {
    /// The numbers of look-ups, and of remembered names.
    struct Limits {
        /// The maximum number of look-ups at the same time.
        var slots = 8
        /// The maximum number of look-ups for one app.
        var perApp = 2
        /// The maximum number of look-ups of names that were never found.
        var neverFound = 6
        /// The maximum number of names that are remembered as found.
        var remembered = 4096
    }

    /// A caller without a look-up.
    private struct Waiting {
        var id: Int
        var name: String
        var app: Int64
    }

    /// A look-up in flight.
    private struct Running {
        var app: Int64
        var wasFound: Bool
        /// All callers that wait for this name.
        var ids: [Int]
    }

    private let limits: Limits
    private var running: [String: Running] = [:]
    private var waiting: [Waiting] = []
    private var found: Set<String> = []

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Adds a caller to the queue.
    /// - Parameter id: The number of the caller.
    /// - Returns: The names whose look-up starts now.
    mutating func enqueue(_ id: Int, for name: String, app: Int64) -> [String] {
        self.waiting.append(Waiting(id: id, name: name, app: app))
        return self.start()
    }

    /// Removes the caller from the queue. A look-up that has started continues.
    mutating func cancel(_ id: Int) { self.waiting.removeAll { $0.id == id } }

    /// Ends a look-up.
    /// - Parameter isFound: `true` if the name has addresses.
    /// - Returns: The callers that waited for it, and the names whose look-up starts now.
    mutating func finish(_ name: String, isFound: Bool) -> (waiters: [Int], started: [String]) {
        let ids = self.running.removeValue(forKey: name)?.ids ?? []
        if isFound {
            if self.found.count >= self.limits.remembered { self.found.removeAll() }
            self.found.insert(name)
        } else {
            self.found.remove(name)
        }
        return (ids, self.start())
    }

    /// Starts look-ups in the order of the queue, except for those without a slot.
    private mutating func start() -> [String] {
        var started: [String] = []
        var remainder: [Waiting] = []
        for caller in self.waiting {
            if self.running[caller.name] != nil {
                self.running[caller.name]?.ids.append(caller.id)
            } else if self.hasSlot(for: caller) {
                let wasFound = self.found.contains(caller.name)
                self.running[caller.name] = Running(app: caller.app, wasFound: wasFound, ids: [caller.id])
                started.append(caller.name)
            } else {
                remainder.append(caller)
            }
        }
        self.waiting = remainder
        return started
    }

    private func hasSlot(for caller: Waiting) -> Bool {
        let others = self.running.values
        return others.count < self.limits.slots
            && others.count { $0.app == caller.app } < self.limits.perApp
            && (self.found.contains(caller.name) || others.count { !$0.wasFound } < self.limits.neverFound)
    }
}
