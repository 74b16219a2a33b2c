import Synchronization

/// An amount that was taken from a budget. It is released once: by ``end()``, or when the permit is deallocated.
package final class BudgetPermit: Sendable {
    private struct State {
        var held: Int
        var caller: BudgetCaller
    }

    private let budget: Budget
    private let state: Mutex<State>

    init(_ budget: Budget, _ amount: Int, _ caller: BudgetCaller) {
        self.budget = budget
        self.state = Mutex(State(held: amount, caller: caller))
    }

    /// Releases the whole amount.
    package func end() { self.reduce(to: 0) }

    /// Reduces the amount to `amount`, and releases the rest.
    package func reduce(to amount: Int) {
        let (excess, caller) = self.state.withLock { state in
            let excess = state.held - min(state.held, max(0, amount))
            state.held -= excess
            return (excess, state.caller)
        }
        if excess > 0 { self.budget.release(excess, of: caller) }
    }

    /// Takes more from the same account.
    /// - Throws: ``BudgetRefusal`` if the amount is not available. The permit then keeps its present amount.
    package func extend(by amount: Int) throws(BudgetRefusal) {
        try self.state.withLock { state throws(BudgetRefusal) in
            try self.budget.request(amount, for: state.caller)
            state.held += amount
        }
    }

    /// Raises the amount to `amount`, or reduces it.
    /// - Throws: ``BudgetRefusal`` if more is not available. The permit then keeps its present amount.
    package func adjust(to amount: Int) throws(BudgetRefusal) {
        try self.state.withLock { state throws(BudgetRefusal) in
            guard amount > state.held else { return }
            try self.budget.request(amount - state.held, for: state.caller)
            state.held = amount
        }
        self.reduce(to: amount)
    }

    /// Moves the amount to the account of another caller. The total in use does not change, so only the bounds of the
    /// app and the caller can refuse it.
    /// - Throws: ``BudgetRefusal`` if they refuse it. The amount then stays on the first account.
    package func move(to caller: BudgetCaller) throws(BudgetRefusal) {
        try self.state.withLock { state throws(BudgetRefusal) in
            if state.held > 0 { try self.budget.move(state.held, from: state.caller, to: caller) }
            state.caller = caller
        }
    }

    /// Releases the whole amount, and takes it again in turn, behind the requests that already wait.
    ///
    /// Work that has begun is not refused: it waits without a time limit, even if the queue is full.
    /// - Throws: ``BudgetEnded`` or `CancellationError`. The permit then has no amount.
    package func yield() async throws {
        let (held, caller) = self.state.withLock { state in
            defer { state.held = 0 }
            return (state.held, state.caller)
        }
        guard held > 0 else { return }
        self.budget.release(held, of: caller)
        try await self.budget.retake(held, for: caller)
        self.state.withLock { $0.held = held }
    }

    // A permit that is dropped gives its amount back.
    deinit { self.end() }
}
