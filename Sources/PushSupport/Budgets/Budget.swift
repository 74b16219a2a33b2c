package import PushTypes
import Synchronization

/// Limits the use of one resource that callers compete for.
///
/// A request is granted, queued or refused by the rules of ``BudgetStateMachine``. Usage and refusals are counted per
/// app.
package final class Budget: Sendable {
    /// The usage of one app, for the metrics.
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
        var hasEnded = false
    }

    /// The size, in bytes, up to which a body is charged to no budget. The connection limit bounds their number.
    package static let uncountedBodyLength = 64 * 1024

    package let resource: BudgetedResource
    package let limits: BudgetLimits
    private let state: Mutex<State>
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// Creates the budget of a resource, of which nothing is in use.
    /// - Parameter limits: The limits, or `nil` for the resource's default.
    package init(
        _ resource: BudgetedResource,
        limits: BudgetLimits? = nil,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.resource, self.limits, self.clock) = (resource, limits ?? resource.row.limits, clock)
        self.state = Mutex(State(machine: BudgetStateMachine(limits: self.limits)))
    }

    // MARK: Taking

    /// Takes an amount without waiting.
    /// - Returns: The permit, which releases the amount when it ends. For a rate, it releases nothing.
    /// - Throws: ``BudgetRefusal`` if the amount is not available.
    package func take(_ amount: Int = 1, for caller: BudgetCaller) throws(BudgetRefusal) -> BudgetPermit {
        try self.request(amount, for: caller)
        return BudgetPermit(self, amount, caller)
    }

    /// Takes an amount, without waiting, of a resource whose total size changes, such as the free space of a disk.
    /// - Parameter room: The present size of the resource, including the amounts in use.
    /// - Throws: ``BudgetRefusal`` if the amount is not available.
    package func take(_ amount: Int, for caller: BudgetCaller, room: Int) throws(BudgetRefusal) -> BudgetPermit {
        try self.request(amount, for: caller, room: room)
        return BudgetPermit(self, amount, caller)
    }

    /// Takes an amount of a rate, which only time replenishes. Throws ``BudgetRefusal`` if it is not available.
    package func spend(_ amount: Int = 1, for caller: BudgetCaller) throws(BudgetRefusal) {
        try self.request(amount, for: caller)
    }

    func request(_ amount: Int, for caller: BudgetCaller, room: Int? = nil) throws(BudgetRefusal) {
        let now = self.clock()
        let decision = self.state.withLock { state in
            if let room { state.machine.resize(to: room) }
            let decision =
                state.hasEnded ? .refused(.whole, delay: nil) : state.machine.request(amount, for: caller, now: now)
            if case .refused(let level, _) = decision { Self.count(level, caller, in: &state) }
            return decision
        }
        if case .refused(let level, let delay) = decision { throw BudgetRefusal(self, level, caller, delay) }
    }

    /// Returns the unused part of an amount to a rate. A negative amount is taken, even if that causes a debt.
    package func giveBack(_ amount: Int, for caller: BudgetCaller) {
        let now = self.clock()
        self.state.withLock { $0.machine.giveBack(Double(amount), of: caller, now: now) }
    }

    /// Checks that a rate is not exhausted, and throws ``BudgetRefusal`` otherwise. Nothing is taken: the request is
    /// charged only if it fails.
    package func check(for caller: BudgetCaller) throws(BudgetRefusal) {
        let now = self.clock()
        let refused = self.state.withLock { state in
            let refused = state.machine.refusal(of: caller, now: now)
            if let refused { Self.count(refused.level, caller, in: &state) }
            return refused
        }
        if let refused { throw BudgetRefusal(self, refused.level, caller, refused.delay) }
    }

    /// Takes an amount of a rate, even if it puts the rate into debt.
    /// - Returns: The time that the caller has to wait until the debt is paid, or zero without a debt.
    /// - Throws: ``BudgetRefusal`` if that would take longer than ``BudgetLimits/patience``. Then nothing is taken.
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

    /// Takes an amount, and waits in the queue for at most ``BudgetLimits/patience`` if it is not available.
    /// - Throws: ``BudgetRefusal`` if the queue is full or the time is over, ``BudgetEnded``, `CancellationError`.
    package func wait(_ amount: Int = 1, for caller: BudgetCaller) async throws -> BudgetPermit {
        let now = self.clock()
        try await self.enter(caller, patience: self.limits.patience) { machine, ticket in
            machine.request(amount, for: caller, ticket: ticket, now: now)
        }
        return BudgetPermit(self, amount, caller)
    }

    /// Takes again an amount that the caller has released to let others have their turns. It waits without a time
    /// limit.
    /// - Throws: ``BudgetEnded`` if the budget has ended, and `CancellationError`.
    func retake(_ amount: Int, for caller: BudgetCaller) async throws {
        try await self.enter(caller, patience: nil) { machine, ticket in
            machine.retake(amount, for: caller, ticket: ticket) ? .granted : .queued
        }
    }

    private func enter(
        _ caller: BudgetCaller,
        patience: Duration?,
        _ request: (inout BudgetStateMachine, BudgetStateMachine.Ticket) -> BudgetStateMachine.Decision
    ) async throws {
        let ticket = self.nextTicket()
        var alarm: Task<Void, any Error>?
        defer { alarm?.cancel() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = self.state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .cancelled }
                    if state.hasEnded { return .ended }
                    switch request(&state.machine, ticket) {
                    case .granted: return .granted
                    case .refused(let level, _):
                        Self.count(level, caller, in: &state)
                        return .refused(level)
                    case .queued:
                        state.waiters[ticket] = continuation
                        return nil
                    }
                }
                if let outcome { return continuation.resume(returning: outcome) }
                guard let patience else { return }
                alarm = Task {
                    try await Task.sleep(for: patience, clock: .continuous)
                    self.abandon(ticket, caller, isTooLate: true)
                }
            }
        } onCancel: {
            self.abandon(ticket, caller, isTooLate: false)
        }
        switch outcome {
        case .granted: return
        case .refused(let level): throw BudgetRefusal(self, level, caller, nil)
        case .cancelled: throw CancellationError()
        case .ended: throw BudgetEnded()
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
        let (abandoned, outcome, granted) = self.state.withLock { state -> (Waiter?, Outcome, [Waiter]) in
            guard let (full, granted) = state.machine.abandon(ticket, of: caller) else { return (nil, .cancelled, []) }
            if isTooLate { Self.count(full, caller, in: &state) }
            return (
                state.waiters.removeValue(forKey: ticket), isTooLate ? .refused(full) : .cancelled,
                granted.compactMap { state.waiters.removeValue(forKey: $0) }
            )
        }
        abandoned?.resume(returning: outcome)
        for waiter in granted { waiter.resume(returning: .granted) }
    }

    func move(_ amount: Int, from caller: BudgetCaller, to other: BudgetCaller) throws(BudgetRefusal) {
        let (full, granted) = self.state.withLock { state in
            let (full, granted) = state.machine.move(amount, from: caller, to: other)
            if let full { Self.count(full, other, in: &state) }
            return (full, granted.compactMap { state.waiters.removeValue(forKey: $0) })
        }
        for waiter in granted { waiter.resume(returning: .granted) }
        if let full { throw BudgetRefusal(self, full, other, nil) }
    }

    func release(_ amount: Int, of caller: BudgetCaller) {
        guard self.limits.holds else { return }
        let granted = self.state.withLock { state in
            state.machine.release(amount, of: caller).compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in granted { waiter.resume(returning: .granted) }
    }

    /// Ends the budget: nothing more is granted, and all waiting requests fail with ``BudgetEnded``.
    package func end() {
        self.state.withLock { state in
            state.hasEnded = true
            state.machine.abandonAll()
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        .forEach { $0.resume(returning: .ended) }
    }

    package var hasEnded: Bool { self.state.withLock { $0.hasEnded } }

    /// Creates and counts a refusal at a level, because of a bound that the resource's owner sets besides the limits.
    package func refuse(_ level: BudgetLevel, _ caller: BudgetCaller) -> BudgetRefusal {
        self.state.withLock { Self.count(level, caller, in: &$0) }
        return BudgetRefusal(self, level, caller, nil)
    }

    // MARK: Usage

    /// The amount in use by all callers, and the number of their waiting requests.
    package var usage: (held: Int, waiting: Int) { self.state.withLock { $0.machine.usage } }

    /// Returns the amount that a caller uses, and the number of its waiting requests.
    package func usage(of caller: BudgetCaller) -> (held: Int, waiting: Int) {
        self.state.withLock { $0.machine.usage(of: caller) }
    }

    package var usageByApp: [Usage] {
        self.state.withLock { $0.machine.usageByApp }
            .map { Usage(app: $0.key, held: $0.value.held, waiting: $0.value.waiting) }
    }

    /// The number of refusals since the start, by app and level.
    package var refusals: [Refusals] {
        self.state.withLock { $0.refusals }.map { Refusals(app: $0.key.app, level: $0.key.level, count: $0.value) }
    }

    private static func count(_ level: BudgetLevel, _ caller: BudgetCaller, in state: inout State) {
        state.refusals[RefusalKey(app: caller.app, level: level), default: 0] += 1
    }
}

/// The error of a request to a budget that was ended.
package struct BudgetEnded: Error {}

/// The refusal of an amount because a bound was reached. The request itself may be valid and may succeed later.
package struct BudgetRefusal: Error, Hashable {
    package let resource: BudgetedResource
    package let level: BudgetLevel
    /// The time after which the amount may be available.
    package let delay: Duration
    /// The bound that was reached, which the error message names, or `nil` if the level has none.
    package let bound: BudgetBound?

    fileprivate init(_ budget: Budget, _ level: BudgetLevel, _ caller: BudgetCaller, _ delay: Duration?) {
        (self.resource, self.level, self.bound) = (budget.resource, level, budget.limits.bounds[level, for: caller])
        self.delay = delay ?? budget.resource.row.delay
    }

    /// Creates a refusal by the default limits of a resource.
    package init(_ resource: BudgetedResource, _ level: BudgetLevel) {
        (self.resource, self.level, self.bound) = (resource, level, resource.row.limits.bounds[level])
        self.delay = resource.row.delay
    }

    /// The error that an API reports to its caller.
    package var error: RetryLaterError {
        let row = self.resource.row
        let error = RequestError(row.kind, code: row.code, message: row.refusal(self.level, self.bound))
        return RetryLaterError(error, after: self.delay)
    }
}

/// The budgets of a process, one for each resource.
package final class BudgetRegistry: Sendable {
    private let budgets: [BudgetedResource: Budget]
    /// The budgets in the order of their resources.
    package let all: [Budget]

    /// Creates a budget for every resource.
    /// - Parameters:
    ///   - limits: The limits of the resources for which the settings change the defaults.
    ///   - clock: The clock of the rates.
    package init(
        _ limits: [BudgetedResource: BudgetLimits] = [:],
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.all = BudgetedResource.allCases.map { Budget($0, limits: limits[$0], clock: clock) }
        self.budgets = Dictionary(uniqueKeysWithValues: self.all.map { ($0.resource, $0) })
    }

    package subscript(resource: BudgetedResource) -> Budget {
        // Every resource has a budget.
        self.budgets[resource] ?? Budget(resource)
    }
}
