import Foundation

/// An error in a command, in words.
package struct CommandError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Scans the words of a line from its start.
struct CommandScanner {
    private var line: Substring
    private let usage: [PhoneCommand.Usage]
    private let events: [SimulatorEvent.Name]

    /// - Parameters:
    ///   - usage: The commands.
    ///   - events: The events that they can wait for.
    init(_ line: some StringProtocol, usage: [PhoneCommand.Usage], events: [SimulatorEvent.Name]) {
        self.line = Substring(line.trimmingCharacters(in: .whitespacesAndNewlines))
        (self.usage, self.events) = (usage, events)
    }

    /// Returns the text of `help`.
    static func helpText(of usage: [PhoneCommand.Usage], events: [SimulatorEvent.Name]) -> String {
        let width = (usage.map(\.words.count).max() ?? 0) + 2
        let lines = usage.map { usage in
            "  \(usage.words)\(String(repeating: " ", count: width - usage.words.count))\(usage.meaning)"
        }
        return (lines + ["  Events: \(events.map(\.rawValue).joined(separator: ", "))"]).joined(separator: "\n")
    }

    /// Returns the error of words that a command does not take.
    func usageError(of name: String) -> CommandError {
        let usage = self.usage.first { $0.words.split(separator: " ").first == name[...] }
        return CommandError("this is '\(usage?.words ?? name)': \(usage?.meaning ?? "")")
    }

    /// Returns the next word.
    mutating func next() -> String? {
        guard !self.line.isEmpty else { return nil }
        let word = self.line.prefix { !$0.isWhitespace }
        self.line = self.line.dropFirst(word.count).drop(while: \.isWhitespace)
        return String(word)
    }

    /// Returns the rest of the line; `nil` if there is none.
    mutating func rest() -> String? {
        defer { self.line = "" }
        return self.line.isEmpty ? nil : String(self.line)
    }

    mutating func required(for command: String) throws -> String {
        guard let word = self.next() else { throw self.usageError(of: command) }
        return word
    }

    /// Returns the event to wait for.
    mutating func wait() throws -> (name: SimulatorEvent.Name, count: Int, seconds: Int) {
        let event = try self.required(for: "wait")
        guard let name = self.events.first(where: { $0.rawValue == event }) else {
            let known = self.events.map(\.rawValue).joined(separator: ", ")
            throw CommandError("'\(event)' is not an event: use \(known)")
        }
        let count = try self.whole(1...100_000) ?? 1
        let seconds = try self.whole(1...PhoneCommand.longestWait) ?? PhoneCommand.defaultWait
        return (name, count, seconds)
    }

    private mutating func whole(_ range: ClosedRange<Int>) throws -> Int? {
        guard let word = self.next() else { return nil }
        guard let number = Int(word), range.contains(number) else {
            throw CommandError("'\(word)' is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
