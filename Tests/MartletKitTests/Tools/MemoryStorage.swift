import Foundation
import MartletKit
import Synchronization

/// Values in memory, with failures on request.
final class MemoryStorage: Storage {
    struct Unreadable: Error {}

    private let values = Mutex<[String: Data]>([:])
    private let isFailing = Mutex(false)

    var all: [String: Data] { self.values.withLock { $0 } }

    func fail(_ isFailing: Bool) { self.isFailing.withLock { $0 = isFailing } }

    private func check() throws { if self.isFailing.withLock({ $0 }) { throw Unreadable() } }

    func names() throws -> [String] {
        try self.check()
        return self.values.withLock { Array($0.keys) }
    }

    func read(_ name: String) throws -> Data? {
        try self.check()
        return self.values.withLock { $0[name] }
    }

    func write(_ name: String, _ value: Data) throws {
        try self.check()
        self.values.withLock { $0[name] = value }
    }

    func insert(_ name: String, _ value: Data) throws -> Bool {
        try self.check()
        return self.values.withLock { values in
            guard values[name] == nil else { return false }
            values[name] = value
            return true
        }
    }

    func remove(_ name: String) throws {
        try self.check()
        self.values.withLock { $0[name] = nil }
    }
}
