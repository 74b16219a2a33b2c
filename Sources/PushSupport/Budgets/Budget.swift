package import PushTypes
import Synchronization

/// The budget of one resource: the one way to take something that other callers want too.
///
/// It gives, lets wait, or refuses, by the rules of ``BudgetStateMachine``, and counts what is in use and what was refused by app.
package final class Budget: Sendable {
    /// The amounts of one app, for the metrics.
    package struct Usage: Hashable, Sendable {
        package var app: Topic?
        package var held: Int
        package var waiting: Int

        package init(app: Topic?, held: Int = 0, waiting: Int = 0) {
            (self.app, self.held, self.waiting) = (app, held, waiting)
        }
    }

    /// The refusals of one app at one level, for the metrics.
    package struct Refusals: Hashable, Sendable {
        package var app: Topic?
        package var level: BudgetLevel
        package var count: Int
    }

    private enum Outcome {
        case granted, refused(BudgetLevel), cancelled, ended
    }

    private struct RefusalKey: Hashable {
        var app: Topic?
        var level: BudgetLevel
    }

    private struct State {
        var machine: BudgetStateMachine
        var waiters: [BudgetStateMachine.Ticket: CheckedContinuation<Outcome, Never>] = [:]
        var lastTicket: BudgetStateMachine.Ticket = 0
        var refusals: [RefusalKey: Int] = [:]
        /// The callers that wait until nothing is held.
        var idle: [CheckedContinuation<Void, Never>] = []
        var hasEnded = false
    }

    package let resource: Resource
    package let limits: BudgetLimits
    private let state: Mutex<State>
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// - Parameter limits: The limits; `nil` for the resource's own.
    package init(
        _ resource: Resource,
        limits: BudgetLimits? = nil,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.resource, self.limits, self.clock) = (resource, limits ?? resource.row.limits, clock)
        self.state = Mutex(State(machine: BudgetStateMachine(limits: self.limits)))
    }

    // MARK: Taking

    /// Takes an amount at once.
    /// - Parameter free: The amount that is free now of a resource whose size changes; `nil` for one with a bound.
    /// - Returns: The permit, which gives it back at its end; that of a rate gives nothing back.
    package func take(
        _ amount: Int = 1,
        for caller: BudgetCaller,
        free: Int? = nil
    ) throws(BudgetRefusal) -> BudgetPermit {
        try self.request(amount, for: caller, free: free)
        return BudgetPermit(self, amount, caller)
    }

    /// Takes an amount of a rate, which comes back with time alone.
    package func spend(_ amount: Int = 1, for caller: BudgetCaller) throws(BudgetRefusal) {
        try self.request(amount, for: caller)
    }

    private func request(_ amount: Int, for caller: BudgetCaller, free: Int? = nil) throws(BudgetRefusal) {
        let now = self.clock()
        let decision = self.state.withLock { state in
            if let free { state.machine.resize(free: free) }
            let decision = state.machine.request(amount, for: caller, now: now)
            if case .refused(let level, _) = decision { Self.count(level, caller, in: &state) }
            return decision
        }
        if case .refused(let level, let delay) = decision { throw BudgetRefusal(self, level, caller, delay) }
    }

    /// Gives back an amount of a rate that was taken and not needed; a negative one takes what was needed besides.
    package func giveBack(_ amount: Int, for caller: BudgetCaller) {
        let now = self.clock()
        self.state.withLock { $0.machine.giveBack(Double(amount), of: caller, now: now) }
    }

    /// Looks whether a rate has something, and takes nothing: for what costs only where it fails.
    package func check(for caller: BudgetCaller) throws(BudgetRefusal) {
        let now = self.clock()
        let refused = self.state.withLock { state in
            let refused = state.machine.refusal(of: caller, now: now)
            if let refused { Self.count(refused.level, caller, in: &state) }
            return refused
        }
        if let refused { throw BudgetRefusal(self, refused.level, caller, refused.delay) }
    }

    /// Takes an amount of a rate that may be owed for as long as ``BudgetLimits/patience``.
    /// - Returns: The time to wait before what it is for begins.
    package func owe(_ amount: Int, for caller: BudgetCaller) throws(BudgetRefusal) -> Duration {
        let now = self.clock()
        let result = self.state.withLock { state in
            let result = state.machine.owe(Double(amount), for: caller, now: now)
            if case .failure(let refused) = result { Self.count(refused.level, caller, in: &state) }
            return result
        }
        switch result {
        case .success(let delay): return delay
        case .failure(let refused): throw BudgetRefusal(self, refused.level, caller, refused.delay)
        }
    }

    /// Takes an amount, and waits its turn for as long as ``BudgetLimits/patience``.
    /// - Throws: ``BudgetRefusal``, ``BudgetEnded``, `CancellationError`.
    package func wait(_ amount: Int = 1, for caller: BudgetCaller) async throws -> BudgetPermit {
        switch await self.enter(amount, caller) {
        case .granted: return BudgetPermit(self, amount, caller)
        case .refused(let level): throw BudgetRefusal(self, level, caller, nil)
        case .cancelled: throw CancellationError()
        case .ended: throw BudgetEnded()
        }
    }

    private func enter(_ amount: Int, _ caller: BudgetCaller) async -> Outcome {
        let (ticket, now) = (self.nextTicket(), self.clock())
        let alarm = Task {
            try await Task.sleep(for: self.limits.patience, clock: .continuous)
            self.abandon(ticket, caller, isTooLate: true)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = self.state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .cancelled }
                    if state.hasEnded { return .ended }
                    switch state.machine.request(amount, for: caller, ticket: ticket, now: now) {
                    case .granted: return .granted
                    case .refused(let level, _):
                        Self.count(level, caller, in: &state)
                        return .refused(level)
                    case .queued:
                        state.waiters[ticket] = continuation
                        return nil
                    }
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            self.abandon(ticket, caller, isTooLate: false)
        }
    }

    private func nextTicket() -> BudgetStateMachine.Ticket {
        self.state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
    }

    private func abandon(_ ticket: BudgetStateMachine.Ticket, _ caller: BudgetCaller, isTooLate: Bool) {
        typealias Waiter = CheckedContinuation<Outcome, Never>
        let (abandoned, granted) = self.state.withLock { state -> (Waiter?, [Waiter]) in
            guard let granted = state.machine.abandon(ticket, of: caller) else { return (nil, []) }
            if isTooLate { Self.count(.whole, caller, in: &state) }
            return (
                state.waiters.removeValue(forKey: ticket), granted.compactMap { state.waiters.removeValue(forKey: $0) }
            )
        }
        abandoned?.resume(returning: isTooLate ? .refused(.whole) : .cancelled)
        for waiter in granted { waiter.resume(returning: .granted) }
    }

    fileprivate func move(
        _ amount: Int,
        from caller: BudgetCaller,
        to other: BudgetCaller
    ) throws(BudgetRefusal) {
        let (full, granted) = self.state.withLock { state in
            let (full, granted) = state.machine.move(amount, from: caller, to: other)
            if let full { Self.count(full, other, in: &state) }
            return (full, granted.compactMap { state.waiters.removeValue(forKey: $0) })
        }
        for waiter in granted { waiter.resume(returning: .granted) }
        if let full { throw BudgetRefusal(self, full, other, nil) }
    }

    fileprivate func release(_ amount: Int, of caller: BudgetCaller) {
        guard self.limits.holds else { return }
        typealias Waiters = ([CheckedContinuation<Outcome, Never>], [CheckedContinuation<Void, Never>])
        let (granted, idle) = self.state.withLock { state -> Waiters in
            let granted = state.machine.release(amount, of: caller).compactMap { state.waiters.removeValue(forKey: $0) }
            guard state.machine.usage.held == 0 else { return (granted, []) }
            defer { state.idle = [] }
            return (granted, state.idle)
        }
        for waiter in granted { waiter.resume(returning: .granted) }
        for waiter in idle { waiter.resume() }
    }

    // MARK: All of it

    /// Runs `body` while nothing is held and nothing is granted; what is held ends first.
    package func whileIdle<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        await withCheckedContinuation { continuation in
            let isIdle = self.state.withLock { state in
                state.machine.pause()
                guard state.machine.usage.held > 0 else { return true }
                state.idle.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
        defer {
            self.state.withLock { state in state.machine.resume().compactMap { state.waiters.removeValue(forKey: $0) } }
                .forEach { $0.resume(returning: .granted) }
        }
        return try await body()
    }

    /// Ends the budget: what waits is not granted any more.
    package func end() {
        self.state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        .forEach { $0.resume(returning: .ended) }
    }

    package var hasEnded: Bool { self.state.withLock { $0.hasEnded } }

    /// Indicates whether nothing is granted now (``whileIdle(_:)``).
    package var isPaused: Bool { self.state.withLock { $0.machine.isPaused } }

    // MARK: Usage

    /// The amount that is held, and the number of requests that wait.
    package var usage: (held: Int, waiting: Int) { self.state.withLock { $0.machine.usage } }

    /// Returns the amount that a caller holds, and the number of its requests that wait.
    package func usage(of caller: BudgetCaller) -> (held: Int, waiting: Int) {
        self.state.withLock { $0.machine.usage(of: caller) }
    }

    package var usageByApp: [Usage] {
        self.state.withLock { $0.machine.usageByApp }
            .map { Usage(app: $0.key, held: $0.value.held, waiting: $0.value.waiting) }
    }

    /// The refusals since the start, by app and level.
    package var refusals: [Refusals] {
        self.state.withLock { $0.refusals }.map { Refusals(app: $0.key.app, level: $0.key.level, count: $0.value) }
    }

    private static func count(_ level: BudgetLevel, _ caller: BudgetCaller, in state: inout State) {
        state.refusals[RefusalKey(app: caller.app, level: level), default: 0] += 1
    }
}

/// An amount of a resource that was taken. It is given back once: at its end, or when it is not referenced any more.
package final class BudgetPermit: Sendable {
    private struct State {
        /// The amount that is held now.
        var held: Int
        var caller: BudgetCaller
    }

    private let budget: Budget
    private let state: Mutex<State>

    fileprivate init(_ budget: Budget, _ amount: Int, _ caller: BudgetCaller) {
        self.budget = budget
        self.state = Mutex(State(held: amount, caller: caller))
    }

    /// Gives everything back.
    package func end() { self.reduce(to: 0) }

    /// Gives back what is more than an amount.
    package func reduce(to amount: Int) {
        let (excess, caller) = self.state.withLock { state in
            let excess = state.held - min(state.held, max(0, amount))
            state.held -= excess
            return (excess, state.caller)
        }
        if excess > 0 { self.budget.release(excess, of: caller) }
    }

    /// Moves what is held to the account of another caller. The whole holds as much as before, so only the levels below can refuse it.
    /// - Throws: ``BudgetRefusal``, and everything stays where it is.
    package func move(to caller: BudgetCaller) throws(BudgetRefusal) {
        try self.state.withLock { state throws(BudgetRefusal) in
            if state.held > 0 { try self.budget.move(state.held, from: state.caller, to: caller) }
            state.caller = caller
        }
    }

    // A permit that is never used holds nothing.
    deinit { self.end() }
}

/// The error of a budget whose service ends.
package struct BudgetEnded: Error {}

/// A refusal: this resource has no more for this caller now. It says nothing about the request itself, which succeeds later.
package struct BudgetRefusal: Error, Hashable {
    package let resource: Resource
    package let level: BudgetLevel
    /// The time after which there may be room.
    package let delay: Duration
    /// The bound that was reached.
    package let bound: BudgetBound?

    fileprivate init(_ budget: Budget, _ level: BudgetLevel, _ caller: BudgetCaller, _ delay: Duration?) {
        (self.resource, self.level, self.bound) = (budget.resource, level, budget.limits.bounds[level, for: caller])
        self.delay = delay ?? budget.resource.row.delay
    }

    /// Makes the refusal of a resource with its default limits.
    package init(_ resource: Resource, _ level: BudgetLevel) {
        (self.resource, self.level, self.bound) = (resource, level, resource.row.limits.bounds[level])
        self.delay = resource.row.delay
    }

    /// The error for the caller of an API.
    package var error: RetryLaterError {
        let row = self.resource.row
        let error = RequestError(row.kind, code: row.code, message: row.refusal(self.level, self.bound))
        return RetryLaterError(error, after: self.delay)
    }
}
