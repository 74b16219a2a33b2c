import Foundation

/// A value that the app and its extension both change, without losing a change of either.
///
/// Each change is stored under the next number, which only one process can take; the other reads again and repeats its change.
struct SharedValue: Sendable {
    /// The storage kept failing to settle: processes changed the value again and again, or lost it.
    struct ContentionError: Error, Hashable, CustomStringConvertible {
        var description: String { "the shared value did not settle: try again later" }
    }

    private static let attempts = 100
    /// The number of earlier values whose names are kept, so that a process which was held up finds the next number taken. They
    /// are empty: a replaced secret must not stay.
    private static let kept: Int64 = 16

    let storage: any MartletStorage
    /// The beginning of the names; the number of the change follows.
    let prefix: String

    /// Returns the value; `nil` if nothing was ever stored.
    func read() throws -> Data? { try self.latest().value }

    /// Stores what `change` makes of the value, and returns its result. `nil` for a new value keeps the old one.
    ///
    /// The closure may be called several times, and must have no effects of its own.
    func update<Result>(_ change: (Data?) throws -> (value: Data?, result: Result)) throws -> Result {
        for _ in 0..<Self.attempts {
            let (number, old) = try self.latest()
            let (value, result) = try change(old)
            guard let value else { return result }
            let next = number + 1
            guard try self.storage.insert(value, for: self.name(next)) else { continue }
            let numbers = try self.numbers()
            let oldest = (numbers.max() ?? next) - Self.kept
            // Held up for longer than that, a process takes a number that was used and removed. Its value does not count.
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

    /// Removes the value, the latest last, so that no earlier one takes its place.
    func removeAll() throws {
        for number in try self.numbers().sorted() { try self.storage.remove(self.name(number)) }
    }

    private func latest() throws -> (number: Int64, value: Data?) {
        for _ in 0..<Self.attempts {
            guard let number = try self.numbers().max() else { return (0, nil) }
            // It is gone or empty if another process has stored the next one since.
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
