import Synchronization

/// The data directory of a running gateway; whoever needs it takes turns.
///
/// The lock on the folder is given back by ``close()``; what still lives after that cannot write any more.
final class GatewayDirectory: Sendable {
    private let directory: Mutex<DataDirectory?>

    init(_ directory: consuming DataDirectory) {
        self.directory = Mutex(directory)
    }

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
