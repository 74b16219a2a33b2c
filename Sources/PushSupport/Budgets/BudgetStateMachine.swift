package import PushTypes

/// Decides on requests for a resource that callers compete for. It does no I/O, and the time is an argument.
///
/// Each amount is charged at three levels, and is refused by the lowest level that is full. Apps with waiting requests
/// are served in turn, and so are the callers within an app.
package struct BudgetStateMachine: Sendable {
    package typealias Ticket = UInt64

    /// The decision about a request for an amount.
    package enum Decision: Hashable, Sendable {
        /// The decision that the amount was taken.
        case granted
        /// The decision that the request waits until ``release(_:of:)`` grants it.
        case queued
        /// The decision that the amount was not taken, because this level is full. For a rate, `delay` is the time
        /// until it has room. Otherwise it is `nil`.
        case refused(BudgetLevel, delay: Duration?)
    }

    private struct AppAccount {
        var held = 0
        var callers: [BudgetCaller: Int] = [:]
    }

    private(set) package var limits: BudgetLimits
    private var held = 0
    private var apps: [Topic?: AppAccount] = [:]
    private var queue = BudgetQueue()
    private var buckets = BudgetBuckets()

    package init(limits: BudgetLimits) { self.limits = limits }

    /// The amount in use, and the number of waiting requests.
    package var usage: (held: Int, waiting: Int) { (self.held, self.queue.count) }

    /// The amount that each app uses, and the number of its waiting requests. The key `nil` stands for callers without
    /// an app.
    package var usageByApp: [Topic?: (held: Int, waiting: Int)] {
        let waiting = self.queue.countByApp
        return self.apps.mapValues { (held: $0.held, waiting: 0) }
            .merging(waiting.mapValues { (held: 0, waiting: $0) }) { ($0.held, $1.waiting) }
    }

    /// Returns the amount that a caller uses, and the number of its waiting requests.
    package func usage(of caller: BudgetCaller) -> (held: Int, waiting: Int) {
        (self.apps[caller.app]?.callers[caller] ?? 0, self.queue.count(of: caller))
    }

    /// Requests an amount.
    /// - Parameter ticket: The number of a request that may wait, or `nil` for one that is refused instead.
    package mutating func request(
        _ amount: Int,
        for caller: BudgetCaller,
        ticket: Ticket? = nil,
        now: ContinuousClock.Instant
    ) -> Decision {
        let full = self.fullLevel(amount, caller)
        let isQueued = full != nil || self.isOvertaking(caller)
        if isQueued {
            guard ticket != nil, let waiting = self.limits.waiting else { return .refused(full ?? .whole, delay: nil) }
            if let level = self.queue.fullLevel(waiting, for: caller) { return .refused(level, delay: nil) }
        }
        if let (level, delay) = self.buckets.take(Double(amount), caller, self.limits.bounds, now: now) {
            return .refused(level, delay: delay)
        }
        if isQueued, let ticket {
            self.queue.append(BudgetQueue.Request(ticket: ticket, amount: amount), of: caller)
            return .queued
        }
        self.add(amount, caller)
        return .granted
    }

    /// Takes again an amount that the caller has released to let others have their turns. The request waits behind
    /// theirs, even if the queue is full.
    /// - Returns: `true` if the amount was granted immediately, and `false` if the request waits.
    package mutating func retake(_ amount: Int, for caller: BudgetCaller, ticket: Ticket) -> Bool {
        guard self.fullLevel(amount, caller) != nil || self.isOvertaking(caller) else {
            self.add(amount, caller)
            return true
        }
        self.queue.append(BudgetQueue.Request(ticket: ticket, amount: amount), of: caller)
        return false
    }

    /// Sets the maximum amount of a resource whose size changes, such as a disk.
    package mutating func resize(to room: Int) { self.limits.bounds.whole = .held(max(0, room)) }

    /// Takes an amount of a rate, even if that causes a debt, provided the limits' patience suffices to pay the debt.
    /// - Returns: The time after which the debt is paid, or the level that refused the amount, of which nothing was
    ///   taken.
    package mutating func owe(
        _ amount: Double,
        for caller: BudgetCaller,
        now: ContinuousClock.Instant
    ) -> Result<Duration, Refused> {
        self.buckets.owe(amount, caller, self.limits, now: now)
    }

    /// Checks that a rate is not exhausted, and takes nothing.
    /// - Returns: The lowest level that is exhausted, or `nil` if none is.
    package func refusal(of caller: BudgetCaller, now: ContinuousClock.Instant) -> Refused? {
        self.buckets.refusal(caller, self.limits.bounds, now: now).map { Refused(level: $0.0, delay: $0.1) }
    }

    /// A level that refused an amount, and the time after which it will have room.
    package struct Refused: Error, Hashable {
        package let level: BudgetLevel
        package let delay: Duration
    }

    /// Returns the unused part of an amount to a rate. A negative amount is taken, even if that causes a debt.
    package mutating func giveBack(_ amount: Double, of caller: BudgetCaller, now: ContinuousClock.Instant) {
        self.buckets.giveBack(amount, caller, self.limits.bounds, now: now)
    }

    /// Releases an amount that is in use.
    /// - Returns: The requests that are granted now.
    package mutating func release(_ amount: Int, of caller: BudgetCaller) -> [Ticket] {
        self.subtract(amount, caller)
        return self.grantNext()
    }

    /// Moves an amount in use to the account of another caller. The total in use does not change.
    /// - Returns: The level without room for the amount (`nil` if it was moved), and the requests that are granted now.
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
        return (nil, self.grantNext())
    }

    /// Removes a waiting request.
    /// - Returns: The level at which it had no room, and the requests that are granted now, or `nil` if it was not
    ///   waiting.
    package mutating func abandon(_ ticket: Ticket, of caller: BudgetCaller) -> (full: BudgetLevel, granted: [Ticket])?
    {
        guard let request = self.queue.remove(ticket, of: caller) else { return nil }
        let full = self.fullLevel(request.amount, caller) ?? .whole
        return (full, self.grantNext())
    }

    package mutating func abandonAll() { self.queue = BudgetQueue() }

    // MARK: Bounds

    /// Returns the lowest level that has no room for an amount, or `nil` if all levels have room.
    private func fullLevel(_ amount: Int, _ caller: BudgetCaller) -> BudgetLevel? {
        let account = self.apps[caller.app]
        if !self.allows(self.limits.bounds.caller, account?.callers[caller] ?? 0, amount) { return .caller }
        if !self.allows(self.limits.bounds[.app, for: caller], account?.held ?? 0, amount) { return .app }
        return self.allows(self.limits.bounds.whole, self.held, amount) ? nil : .whole
    }

    private func allows(_ bound: BudgetBound?, _ held: Int, _ amount: Int) -> Bool {
        guard amount > 0 else { return true }
        switch bound {
        case nil, .rate: return true
        case .held(let most): return amount <= most - held
        case .timesFree(let times):
            guard case .held(let whole) = self.limits.bounds.whole else { return true }
            // Only the whole bounds the first unit of an account.
            if held == 0, amount == 1 { return true }
            // A large amount counts as that many amounts of 1: only what is left after the others is free.
            return (held + amount - 1) / max(1, times) < whole - self.held - (amount - 1)
        }
    }

    /// Returns whether a request would overtake a waiting one of the same caller, or one that lacks room at the level
    /// `whole`.
    private func isOvertaking(_ caller: BudgetCaller) -> Bool {
        guard self.queue.count > 0 else { return false }
        return self.queue.count(of: caller) > 0
            || self.queue.contains { self.fullLevel($0.amount, $1) == .whole }
    }

    // MARK: Accounts

    private mutating func add(_ amount: Int, _ caller: BudgetCaller) {
        // An amount of 0 needs no account.
        guard self.limits.holds, amount > 0 else { return }
        self.held += amount
        self.apps[caller.app, default: AppAccount()].held += amount
        self.apps[caller.app]?.callers[caller, default: 0] += amount
    }

    /// Subtracts an amount, and removes accounts that no longer use anything.
    private mutating func subtract(_ amount: Int, _ caller: BudgetCaller) {
        self.held -= amount
        self.apps[caller.app]?.held -= amount
        self.apps[caller.app]?.callers[caller]? -= amount
        if self.apps[caller.app]?.callers[caller] ?? 0 <= 0 { self.apps[caller.app]?.callers[caller] = nil }
        if self.apps[caller.app]?.callers.isEmpty == true { self.apps[caller.app] = nil }
    }

    private mutating func grantNext() -> [Ticket] {
        var granted: [Ticket] = []
        while let turn = self.queue.next({ self.fullLevel($0.amount, $1) }) {
            self.queue.take(turn)
            self.add(turn.request.amount, turn.caller)
            granted.append(turn.request.ticket)
        }
        return granted
    }
}
