import Foundation
import MartletKit

/// Values in memory, for tests.
///
/// It is unchecked because a lock guards everything that changes.
final class MemoryStorage: MartletStorage, @unchecked Sendable {
    struct Failure: Error {}

    private let lock = NSLock()
    private var values: [String: Data]
    private var fails = false

    init(_ values: [String: Data] = [:]) { self.values = values }

    /// Makes all further calls fail, or stops that.
    func fail(_ fails: Bool = true) { self.lock.withLock { self.fails = fails } }

    /// All values, also while calls fail.
    var all: [String: Data] { self.lock.withLock { self.values } }
    func value(_ name: String) -> Data? { self.all[name] }

    func names() throws -> [String] { try self.access { Array($0.keys) } }
    func read(_ name: String) throws -> Data? { try self.access { $0[name] } }
    func write(_ value: Data, for name: String) throws { try self.access { $0[name] = value } }
    func remove(_ name: String) throws { try self.access { _ = $0.removeValue(forKey: name) } }

    func insert(_ value: Data, for name: String) throws -> Bool {
        try self.access { values in
            guard values[name] == nil else { return false }
            values[name] = value
            return true
        }
    }

    private func access<Result>(_ body: (inout [String: Data]) -> Result) throws -> Result {
        try self.lock.withLock {
            guard !self.fails else { throw Failure() }
            return body(&self.values)
        }
    }
}
