import Synchronization

/// The data directory of a running gateway, for one caller at a time.
///
/// ``close()`` releases the lock of the folder. Nothing can write to it after that.
final class SharedDataDirectory: Sendable {
    private let directory: Mutex<DataDirectory?>

    init(_ directory: consuming DataDirectory) { self.directory = Mutex(directory) }

    /// - Throws: ``GatewayError/ended`` after ``close()``.
    func use<Value: Sendable>(_ body: (borrowing DataDirectory) throws -> Value) throws -> Value {
        try self.directory.withLock { directory in
            switch directory {
            case .some(let directory): try body(directory)
            case .none: throw GatewayError.ended
            }
        }
    }

    func close() { self.directory.withLock { $0 = nil } }
}
