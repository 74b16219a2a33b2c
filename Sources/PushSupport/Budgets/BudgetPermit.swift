import Synchronization

/// An amount of a resource that was taken. It is given back once: at its end, or when it is not referenced any more.
package final class BudgetPermit: Sendable {
    private struct State {
        /// The amount that is held now.
        var held: Int
        var caller: BudgetCaller
    }

    private let budget: Budget
    private let state: Mutex<State>

    init(_ budget: Budget, _ amount: Int, _ caller: BudgetCaller) {
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

    /// Takes more on the same account.
    /// - Throws: ``BudgetRefusal``, and what is held stays.
    package func extend(by amount: Int) throws(BudgetRefusal) {
        try self.state.withLock { state throws(BudgetRefusal) in
            try self.budget.request(amount, for: state.caller)
            state.held += amount
        }
    }

    /// Changes what is held to an amount, on the same account.
    /// - Throws: ``BudgetRefusal``, and what is held stays.
    package func adjust(to amount: Int) throws(BudgetRefusal) {
        try self.state.withLock { state throws(BudgetRefusal) in
            guard amount > state.held else { return }
            try self.budget.request(amount - state.held, for: state.caller)
            state.held = amount
        }
        self.reduce(to: amount)
    }

    /// Moves what is held to the account of another caller. The whole holds as much as before, so only the levels below can refuse it.
    /// - Throws: ``BudgetRefusal``, and everything stays where it is.
    package func move(to caller: BudgetCaller) throws(BudgetRefusal) {
        try self.state.withLock { state throws(BudgetRefusal) in
            if state.held > 0 { try self.budget.move(state.held, from: state.caller, to: caller) }
            state.caller = caller
        }
    }

    /// Gives everything back, and waits until it has its next turn, behind those that wait already.
    ///
    /// What has begun is not refused: it needs no place in the queue, and waits for as long as it takes.
    /// - Throws: ``BudgetEnded`` or `CancellationError`, and nothing is held any more.
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

    // A permit that is never used holds nothing.
    deinit { self.end() }
}
