import Foundation

/// A value that the app and its extension both change, without losing a change of either. Each change is stored under
/// the next number, which only one process can use. The other then repeats its change.
struct SharedValue: Sendable {
    /// The error of a call that was abandoned because other processes changed the value during every attempt.
    struct ContentionError: Error, Hashable, CustomStringConvertible {
        var description: String { "the shared value did not settle: try again later" }
    }

    private static let attempts = 100
    /// The number of earlier values whose names are kept, so that a delayed process notices that its next number is
    /// taken. Their contents are removed, because a replaced secret must not remain.
    private static let kept: Int64 = 16

    let storage: any MartletStorage
    /// The prefix of the value's names in the storage. The number of the change follows it.
    let prefix: String

    /// Returns the value, or `nil` if nothing was ever stored.
    func read() throws -> Data? { try self.latest().value }

    /// Replaces the value with the one that `change` returns, and returns the result of `change`. If the new value is
    /// `nil`, the old one stays.
    ///
    /// The closure may be called several times, and must have no side effects.
    /// - Throws: ``ContentionError``, an error of the storage, or the error of `change`.
    func update<Result>(_ change: (Data?) throws -> (value: Data?, result: Result)) throws -> Result {
        for _ in 0..<Self.attempts {
            let (number, old) = try self.latest()
            let (value, result) = try change(old)
            guard let value else { return result }
            let next = number + 1
            guard try self.storage.insert(value, for: self.name(next)) else { continue }
            let numbers = try self.numbers()
            let oldest = (numbers.max() ?? next) - Self.kept
            // A process that was delayed for longer takes a number that was used and removed. Its value does not count.
            guard next >= oldest else {
                try self.storage.remove(self.name(next))
                continue
            }
            for number in numbers where number < next {
                if number < oldest {
                    try self.storage.remove(self.name(number))
                } else if try self.storage.read(self.name(number))?.isEmpty == false {
                    try self.storage.write(Data(), for: self.name(number))
                }
            }
            return result
        }
        throw ContentionError()
    }

    /// Removes all stored versions of the value, the latest one last, so that no earlier one takes its place.
    func removeAll() throws {
        for number in try self.numbers().sorted() { try self.storage.remove(self.name(number)) }
    }

    private func latest() throws -> (number: Int64, value: Data?) {
        for _ in 0..<Self.attempts {
            guard let number = try self.numbers().max() else { return (0, nil) }
            // The value is gone or empty if another process has stored the next one since.
            guard let value = try self.storage.read(self.name(number)) else { continue }
            if !value.isEmpty { return (number, value) }
            if try self.numbers().max() == number { return (number, value) }
        }
        throw ContentionError()
    }

    private func numbers() throws -> [Int64] {
        try self.storage.names().compactMap { name in
            guard name.hasPrefix(self.prefix), let number = Int64(name.dropFirst(self.prefix.count)),
                (1..<Int64.max).contains(number), self.name(number) == name
            else { return nil }
            return number
        }
    }

    private func name(_ number: Int64) -> String { "\(self.prefix)\(number)" }
}
