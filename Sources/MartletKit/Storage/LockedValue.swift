import Foundation

/// A value that a lock guards. It is used because `Mutex` requires newer systems than apps support. The conformance to
/// `Sendable` is unchecked because the lock guards the value.
final class LockedValue<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    /// Calls `body` with the value, for one caller at a time.
    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        self.lock.lock()
        defer { self.lock.unlock() }
        return try body(&self.value)
    }
}
