/// Decides which name is looked up next.
///
/// A look-up cannot be stopped, and one of a name whose servers do not answer takes its place for half a minute and more. So
/// a name is looked up once at a time, an app has few places, and names that were never found leave some to the others.
struct ResolverQueue {
    struct Limits {
        /// Look-ups at the same time.
        var places = 8
        /// Of these, for names of one app.
        var perApp = 2
        /// Of these, for names that have not been found before.
        var unproven = 6
        /// Names that are remembered as found.
        var remembered = 4096
    }

    private struct Waiting {
        var id: Int
        var name: String
        var app: Int64
    }

    private struct Running {
        var app: Int64
        var isProven: Bool
        /// All that wait for this name.
        var ids: [Int]
    }

    private let limits: Limits
    private var running: [String: Running] = [:]
    private var waiting: [Waiting] = []
    private var proven: Set<String> = []

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// - Parameter id: of the one who asks.
    /// - Returns: the names whose look-up begins with this.
    mutating func ask(_ id: Int, for name: String, app: Int64) -> [String] {
        self.waiting.append(Waiting(id: id, name: name, app: app))
        return self.begin()
    }

    /// Removes the caller from the queue. A look-up that has begun continues.
    mutating func giveUp(_ id: Int) {
        self.waiting.removeAll { $0.id == id }
    }

    /// A look-up has ended.
    /// - Parameter isFound: whether the name has addresses.
    /// - Returns: those that waited for it, and the names whose look-up begins now.
    mutating func ended(_ name: String, isFound: Bool) -> (answered: [Int], begun: [String]) {
        let ids = self.running.removeValue(forKey: name)?.ids ?? []
        if isFound {
            if self.proven.count >= self.limits.remembered { self.proven.removeAll() }
            self.proven.insert(name)
        } else {
            self.proven.remove(name)
        }
        return (ids, self.begin())
    }

    /// In the order in which they were asked for, except for those without a place.
    private mutating func begin() -> [String] {
        var begun: [String] = []
        var left: [Waiting] = []
        for one in self.waiting {
            if self.running[one.name] != nil {
                self.running[one.name]?.ids.append(one.id)
            } else if self.mayBegin(one) {
                let isProven = self.proven.contains(one.name)
                self.running[one.name] = Running(app: one.app, isProven: isProven, ids: [one.id])
                begun.append(one.name)
            } else {
                left.append(one)
            }
        }
        self.waiting = left
        return begun
    }

    private func mayBegin(_ one: Waiting) -> Bool {
        let others = self.running.values
        return others.count < self.limits.places
            && others.count { $0.app == one.app } < self.limits.perApp
            && (self.proven.contains(one.name) || others.count { !$0.isProven } < self.limits.unproven)
    }
}
