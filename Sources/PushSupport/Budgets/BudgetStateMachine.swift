package import PushTypes

/// Decides who gets a resource that callers compete for. It does no I/O, and the time is passed in.
///
/// Each amount counts at three levels, and is refused by the lowest one that is full. Requests that wait are served app by app in turn,
/// and within an app caller by caller.
package struct BudgetStateMachine: Sendable {
    package typealias Ticket = UInt64

    /// The answer to a request.
    package enum Decision: Hashable, Sendable {
        /// It was taken.
        case granted
        /// It waits; ``release(_:of:)`` or ``resume()`` grant it.
        case queued
        /// It was not taken, because this level is full; a rate has room again after the delay.
        case refused(BudgetLevel, delay: Duration?)
    }

    private struct Waiting {
        var ticket: Ticket
        var amount: Int
    }

    /// The account of one caller.
    private struct CallerAccount {
        var held = 0
        var waiting: [Waiting] = []
    }

    /// The account of one app.
    private struct AppAccount {
        var held = 0
        var waiting = 0
        var callers: [BudgetCaller: CallerAccount] = [:]
        /// The callers with waiting requests; the first one is next.
        var order: [BudgetCaller] = []
    }

    private(set) package var limits: BudgetLimits
    private var held = 0
    private var waiting = 0
    private var apps: [Topic?: AppAccount] = [:]
    /// The apps with waiting requests; the first one is next.
    private var order: [Topic?] = []
    private var buckets = BudgetBuckets()
    /// Indicates whether nothing is granted until ``resume()``.
    private(set) package var isPaused = false

    package init(limits: BudgetLimits) { self.limits = limits }

    /// The amount that is held, and the number of requests that wait.
    package var usage: (held: Int, waiting: Int) { (self.held, self.waiting) }

    /// Returns the amount that each app holds, and the number of its requests that wait.
    package var usageByApp: [Topic?: (held: Int, waiting: Int)] { self.apps.mapValues { ($0.held, $0.waiting) } }

    /// Returns the amount that a caller holds, and the number of its requests that wait.
    package func usage(of caller: BudgetCaller) -> (held: Int, waiting: Int) {
        let account = self.apps[caller.app]?.callers[caller]
        return (account?.held ?? 0, account?.waiting.count ?? 0)
    }

    /// Asks for an amount.
    /// - Parameter ticket: The number of a request that may wait; `nil` for one that does not.
    package mutating func request(
        _ amount: Int,
        for caller: BudgetCaller,
        ticket: Ticket? = nil,
        now: ContinuousClock.Instant
    ) -> Decision {
        let full = self.fullLevel(amount, caller)
        if full == nil, !self.isPaused, !self.isOvertaking(caller) {
            if let (level, delay) = self.buckets.take(Double(amount), caller, self.limits.bounds, now: now) {
                return .refused(level, delay: delay)
            }
            self.add(amount, caller)
            return .granted
        }
        guard let ticket, let waiting = self.limits.waiting else { return .refused(full ?? .whole, delay: nil) }
        if let level = self.fullQueue(waiting, caller) { return .refused(level, delay: nil) }
        if let (level, delay) = self.buckets.take(Double(amount), caller, self.limits.bounds, now: now) {
            return .refused(level, delay: delay)
        }
        self.enqueue(Waiting(ticket: ticket, amount: amount), caller)
        return .queued
    }

    /// Notes how much of a resource is free whose size changes, such as a disk: what is held comes on top.
    package mutating func resize(free: Int) { self.limits.bounds.whole = .held(self.held + max(0, free)) }

    /// Takes an amount of a rate that may be owed for as long as the limits' patience.
    /// - Returns: The time after which the debt is paid, or the level that refused it.
    package mutating func owe(
        _ amount: Double,
        for caller: BudgetCaller,
        now: ContinuousClock.Instant
    ) -> Result<Duration, Refused> {
        self.buckets.owe(amount, caller, self.limits, now: now)
    }

    /// Looks whether a rate has something, and takes nothing.
    /// - Returns: The level that has nothing; `nil` if all have some.
    package func refusal(of caller: BudgetCaller, now: ContinuousClock.Instant) -> Refused? {
        self.buckets.empty(caller, self.limits.bounds, now: now).map { Refused(level: $0.0, delay: $0.1) }
    }

    /// A level that refused an amount, and the time after which it has room.
    package struct Refused: Error, Hashable {
        package let level: BudgetLevel
        package let delay: Duration
    }

    /// Gives back an amount of a rate that was taken and not needed; a negative one takes what was needed besides.
    package mutating func giveBack(_ amount: Double, of caller: BudgetCaller, now: ContinuousClock.Instant) {
        self.buckets.giveBack(amount, caller, self.limits.bounds, now: now)
    }

    /// Gives an amount back.
    /// - Returns: The requests that are granted now.
    package mutating func release(_ amount: Int, of caller: BudgetCaller) -> [Ticket] {
        self.subtract(amount, caller)
        self.forget(caller)
        return self.grantNext()
    }

    /// Moves an amount that is held to the account of another caller. The whole holds as much as before.
    /// - Returns: The level of the other account that has no room for it, in which case it stays; and the requests that are granted now.
    package mutating func move(
        _ amount: Int,
        from caller: BudgetCaller,
        to other: BudgetCaller
    ) -> (full: BudgetLevel?, granted: [Ticket]) {
        guard self.limits.holds else { return (nil, []) }
        self.subtract(amount, caller)
        let full = self.fullLevel(amount, other)
        if full == .caller || full == .app {
            self.add(amount, caller)
            return (full, [])
        }
        self.add(amount, other)
        self.forget(caller)
        return (nil, self.grantNext())
    }

    /// Removes a request that waits.
    /// - Returns: The requests that are granted now; `nil` if it was not waiting.
    package mutating func abandon(_ ticket: Ticket, of caller: BudgetCaller) -> [Ticket]? {
        guard let queue = self.apps[caller.app]?.callers[caller]?.waiting,
            let index = queue.firstIndex(where: { $0.ticket == ticket })
        else { return nil }
        self.dequeue(at: index, caller)
        self.forget(caller)
        return self.grantNext()
    }

    /// Grants nothing until ``resume()``.
    package mutating func pause() { self.isPaused = true }

    /// Grants again.
    /// - Returns: The requests that are granted now.
    package mutating func resume() -> [Ticket] {
        self.isPaused = false
        return self.grantNext()
    }

    // MARK: Bounds

    /// Returns the lowest level that has no room for an amount; `nil` if all have.
    private func fullLevel(_ amount: Int, _ caller: BudgetCaller) -> BudgetLevel? {
        let account = self.apps[caller.app]
        let held = (caller: account?.callers[caller]?.held ?? 0, app: account?.held ?? 0)
        if !self.allows(self.limits.bounds.caller, held.caller, amount) { return .caller }
        if !self.allows(self.limits.bounds[.app, for: caller], held.app, amount) { return .app }
        return self.allows(self.limits.bounds.whole, self.held, amount) ? nil : .whole
    }

    private func allows(_ bound: BudgetBound?, _ held: Int, _ amount: Int) -> Bool {
        switch bound {
        case nil, .rate: true
        // An amount larger than the bound is taken alone: else it could never be.
        case .held(let most): held == 0 || amount <= most - held
        case .timesFree(let times):
            if case .held(let whole) = self.limits.bounds.whole {
                held == 0 || (held + amount - 1) / max(1, times) < whole - self.held
            } else {
                true
            }
        }
    }

    private func fullQueue(_ waiting: BudgetLimits.Levels<Int>, _ caller: BudgetCaller) -> BudgetLevel? {
        let account = self.apps[caller.app]
        if let most = waiting.caller, account?.callers[caller]?.waiting.count ?? 0 >= most { return .caller }
        if caller.app != nil, let most = waiting.app, account?.waiting ?? 0 >= most { return .app }
        if let most = waiting.whole, self.waiting >= most { return .whole }
        return nil
    }

    /// Returns `true` if a new request must wait for those that wait for the whole, and for those of its own caller.
    private func isOvertaking(_ caller: BudgetCaller) -> Bool {
        guard self.waiting > 0 else { return false }
        if self.apps[caller.app]?.callers[caller]?.waiting.isEmpty == false { return true }
        return self.order.contains { app in
            self.apps[app]?.order.contains { other in
                guard let first = self.apps[app]?.callers[other]?.waiting.first else { return false }
                return self.fullLevel(first.amount, other) == .whole
            } ?? false
        }
    }

    // MARK: Accounts

    private mutating func add(_ amount: Int, _ caller: BudgetCaller) {
        // A level of rates alone holds nothing, and needs no account.
        guard self.limits.holds else { return }
        self.held += amount
        self.apps[caller.app, default: AppAccount()].held += amount
        self.apps[caller.app]?.callers[caller, default: CallerAccount()].held += amount
    }

    private mutating func subtract(_ amount: Int, _ caller: BudgetCaller) {
        self.held -= amount
        self.apps[caller.app]?.held -= amount
        self.apps[caller.app]?.callers[caller]?.held -= amount
    }

    private mutating func enqueue(_ request: Waiting, _ caller: BudgetCaller) {
        self.waiting += 1
        if self.apps[caller.app]?.order.isEmpty ?? true { self.order.append(caller.app) }
        if self.apps[caller.app]?.callers[caller]?.waiting.isEmpty ?? true {
            self.apps[caller.app, default: AppAccount()].order.append(caller)
        }
        // In place: thousands may wait already.
        self.apps[caller.app, default: AppAccount()].waiting += 1
        self.apps[caller.app]?.callers[caller, default: CallerAccount()].waiting.append(request)
    }

    private mutating func dequeue(at index: Int, _ caller: BudgetCaller) {
        self.waiting -= 1
        self.apps[caller.app]?.waiting -= 1
        self.apps[caller.app]?.callers[caller]?.waiting.remove(at: index)
        if self.apps[caller.app]?.callers[caller]?.waiting.isEmpty ?? true {
            self.apps[caller.app]?.order.removeAll { $0 == caller }
        }
        if self.apps[caller.app]?.order.isEmpty ?? true { self.order.removeAll { $0 == caller.app } }
    }

    /// Grants waiting requests as long as there is room: of the next app that may have something the next caller that may.
    private mutating func grantNext() -> [Ticket] {
        var granted: [Ticket] = []
        while !self.isPaused, let caller = self.nextCaller() {
            guard let request = self.apps[caller.app]?.callers[caller]?.waiting.first else { break }
            self.dequeue(at: 0, caller)
            self.add(request.amount, caller)
            // It has had its turn, and the app too.
            if self.apps[caller.app]?.order.contains(caller) == true {
                self.apps[caller.app]?.order.removeAll { $0 == caller }
                self.apps[caller.app]?.order.append(caller)
            }
            if let index = self.order.firstIndex(of: caller.app) { self.order.append(self.order.remove(at: index)) }
            granted.append(request.ticket)
        }
        return granted
    }

    private func nextCaller() -> BudgetCaller? {
        for app in self.order {
            for caller in self.apps[app]?.order ?? [] {
                guard let first = self.apps[app]?.callers[caller]?.waiting.first else { continue }
                switch self.fullLevel(first.amount, caller) {
                case nil: return caller
                // A smaller request behind it must not overtake it for ever.
                case .whole: return nil
                case .app, .caller: continue
                }
            }
        }
        return nil
    }

    /// Removes accounts that hold nothing and wait for nothing.
    private mutating func forget(_ caller: BudgetCaller) {
        if let account = self.apps[caller.app]?.callers[caller], account.held <= 0, account.waiting.isEmpty {
            self.apps[caller.app]?.callers[caller] = nil
        }
        if let app = self.apps[caller.app], app.held <= 0, app.waiting == 0 { self.apps[caller.app] = nil }
    }
}
