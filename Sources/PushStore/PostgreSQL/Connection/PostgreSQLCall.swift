#if PostgreSQL
import Synchronization

/// A call that waits for a connection, or runs on one.
protocol PostgreSQLWaitingCall: AnyObject, Sendable {
    var isWaiting: Bool { get }

    /// Runs the call if its caller still waits.
    func run(on session: PostgreSQLSession)

    /// Ends the call with an error if it does not run yet.
    func fail(_ error: any Error)
}

/// A call with its caller, which gets the value, or an error, exactly once.
final class PostgreSQLCall<Value: Sendable>: PostgreSQLWaitingCall {
    private enum State {
        case new
        case waiting(CheckedContinuation<Value, any Error>)
        case running(CheckedContinuation<Value, any Error>)
        case ended
    }

    private let isCancellable: Bool
    private let body: @Sendable (PostgreSQLSession) throws -> Value
    private let state = Mutex(State.new)

    /// - Parameter isCancellable: Whether a cancelled caller leaves the call while it runs.
    init(isCancellable: Bool, _ body: @escaping @Sendable (PostgreSQLSession) throws -> Value) {
        (self.isCancellable, self.body) = (isCancellable, body)
    }

    var isWaiting: Bool {
        self.state.withLock { state in
            if case .waiting = state { true } else { false }
        }
    }

    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        self.state.withLock { $0 = .waiting(continuation) }
    }

    func run(on session: PostgreSQLSession) {
        let isWanted = self.state.withLock { state in
            guard case .waiting(let continuation) = state else { return false }
            state = .running(continuation)
            return true
        }
        guard isWanted else { return }
        self.end(Result { try self.body(session) }) { _ in true }
    }

    func fail(_ error: any Error) { self.end(.failure(error)) { isRunning in !isRunning } }

    func cancel() {
        self.end(.failure(CancellationError())) { isRunning in !isRunning || self.isCancellable }
    }

    private func end(_ result: Result<Value, any Error>, if condition: (_ isRunning: Bool) -> Bool) {
        let caller: CheckedContinuation<Value, any Error>? = self.state.withLock { state in
            switch state {
            case .waiting(let continuation) where condition(false), .running(let continuation) where condition(true):
                state = .ended
                return continuation
            case .new, .waiting, .running, .ended: return nil
            }
        }
        caller?.resume(with: result)
    }
}
#endif
