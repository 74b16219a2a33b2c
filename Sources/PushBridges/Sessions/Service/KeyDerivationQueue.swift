import NIOPosix
import PushSupport
import Synchronization

/// Derives keys from passwords on a separate thread, because servers choose the number of rounds and thereby the time.
///
/// Turns alternate between apps, and between the servers of an app, so that many sessions of one app or server delay
/// the others little.
final class KeyDerivationQueue: Sendable {
    final class Job: Sendable {
        fileprivate let derivation: PBKDF2Derivation
        fileprivate let caller: BudgetCaller
        fileprivate let completion: @Sendable ([UInt8]) -> Void
        private let isEnded = Mutex(false)

        fileprivate init(
            _ derivation: PBKDF2Derivation,
            _ caller: BudgetCaller,
            _ completion: @escaping @Sendable ([UInt8]) -> Void
        ) {
            (self.derivation, self.caller, self.completion) = (derivation, caller, completion)
        }

        fileprivate var isCancelled: Bool { self.isEnded.withLock { $0 } }

        /// Cancels the job. If its turn has not begun, the key is not derived.
        func cancel() { self.isEnded.withLock { $0 = true } }
    }

    private struct State {
        var turns = BudgetStateMachine(limits: BudgetLimits(.init(whole: .held(1)), waiting: .init()))
        var lastTicket: BudgetStateMachine.Ticket = 0
        var jobs: [BudgetStateMachine.Ticket: Job] = [:]
    }

    static let shared: KeyDerivationQueue = {
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        return KeyDerivationQueue(on: { body in threads.submit { _ in body() } })
    }()

    private let state = Mutex(State())
    private let key: @Sendable (PBKDF2Derivation) -> [UInt8]
    private let thread: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(
        key: @escaping @Sendable (PBKDF2Derivation) -> [UInt8] = { $0.key() },
        on thread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        (self.key, self.thread) = (key, thread)
    }

    /// Queues a key derivation and returns its job, which can be cancelled before its turn.
    /// - Parameters:
    ///   - caller: The app and its chat server, which determine the turn.
    ///   - completion: Called with the key on the queue's thread, unless the job is cancelled before its turn.
    func derive(
        _ derivation: PBKDF2Derivation,
        for caller: BudgetCaller,
        _ completion: @escaping @Sendable ([UInt8]) -> Void
    ) -> Job {
        let job = Job(derivation, caller, completion)
        let ticket = self.state.withLock { state -> BudgetStateMachine.Ticket? in
            state.lastTicket += 1
            state.jobs[state.lastTicket] = job
            let decision = state.turns.request(1, for: caller, ticket: state.lastTicket, now: .now)
            return decision == .granted ? state.lastTicket : nil
        }
        if let ticket { self.run(ticket) }
        return job
    }

    private func run(_ ticket: BudgetStateMachine.Ticket) {
        guard let job = self.state.withLock({ $0.jobs.removeValue(forKey: ticket) }) else { return }
        self.thread {
            if !job.isCancelled { job.completion(self.key(job.derivation)) }
            let next = self.state.withLock { $0.turns.release(1, of: job.caller) }
            for ticket in next { self.run(ticket) }
        }
    }
}
