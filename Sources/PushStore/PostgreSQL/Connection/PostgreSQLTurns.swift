#if PostgreSQL
import Foundation

/// The turns of the transactions that write: several run at once, or one of them alone.
///
/// One that runs alone conflicts with no other of this process. It waits for the running ones, and those after it wait.
final class PostgreSQLTurns: @unchecked Sendable {
    private let condition = NSCondition()
    // Protected by the condition.
    private var running = 0
    private var alone = 0

    func run<Value>(isAlone: Bool, _ body: () throws -> Value) rethrows -> Value {
        self.condition.withLock {
            if isAlone { self.alone += 1 }
            while isAlone ? self.running > 0 : self.alone > 0 { self.condition.wait() }
            self.running += 1
        }
        defer {
            self.condition.withLock {
                self.running -= 1
                if isAlone { self.alone -= 1 }
                self.condition.broadcast()
            }
        }
        return try body()
    }
}
#endif
