import Foundation
import MartletKit

extension PhoneCommand {
    /// Reads a line. Returns `nil` for an empty one, and for a comment, which begins with `#`.
    /// - Throws: ``CommandError`` that says what the command takes.
    package init?(parsing line: some StringProtocol) throws {
        var words = CommandWords(line)
        guard let name = words.next(), !name.hasPrefix("#") else { return nil }
        self = try Self.parsed(name, &words)
        guard words.next() == nil else { throw CommandError.usage(of: name) }
    }

    /// Reads the words of one command.
    private static func parsed(_ name: String, _ words: inout CommandWords) throws -> PhoneCommand {
        switch name {
        case "list": return .list
        case "status": return .status
        case "open": return .open(try words.number(for: name))
        case "dismiss": return .dismiss(try words.number(for: name))
        case "action":
            guard let number = try words.number(for: name), let id = words.next() else {
                throw CommandError.usage(of: name)
            }
            return .action(number, id: id, text: words.rest())
        case "convert": return .convert(name: words.rest())
        case "background": return .background
        case "foreground": return .foreground
        case "badge": return .badge(try words.badge())
        case "login": return .login(proof: try words.required(for: name))
        case "logout": return .logout
        case "reinstall": return .reinstall
        case "optout": return .optOut(try words.required(for: name))
        case "optin": return .optIn(try words.required(for: name))
        case "quiet": return .quiet(try words.quietTimes())
        case "deny": return .deny(try words.capability(for: name))
        case "allow": return .allow(try words.capability(for: name))
        case "wait": return try words.wait()
        case "flush": return .flush
        case "stay": return .stay
        case "help": return .help
        case "quit", "exit": return .quit
        default: throw CommandError("unknown command '\(name)': 'help' lists all")
        }
    }
}

/// An error in a command, in words.
package struct CommandError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    /// The error of words that a command does not take.
    static func usage(of name: String) -> CommandError {
        let usage = PhoneCommand.usage.first { $0.words.split(separator: " ").first == name[...] }
        return CommandError("this is '\(usage?.words ?? name)': \(usage?.meaning ?? "")")
    }
}

/// The words of a line, read from its start.
private struct CommandWords {
    private var line: Substring

    init(_ line: some StringProtocol) { self.line = Substring(line.trimmingCharacters(in: .whitespacesAndNewlines)) }

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
        guard let word = self.next() else { throw CommandError.usage(of: command) }
        return word
    }

    /// Returns the number of a notification; `nil` for none.
    mutating func number(for command: String) throws -> Int? {
        guard let word = self.next() else { return nil }
        guard let number = Int(word), number > 0 else {
            throw CommandError("'\(word)' is no number of a notification: 'list' shows them in brackets")
        }
        return number
    }

    mutating func badge() throws -> Int {
        let word = try self.required(for: "badge")
        guard let number = Int(word), number >= 0 else { throw CommandError("'\(word)' is no number of 0 or more") }
        return number
    }

    mutating func capability(for command: String) throws -> Capabilities {
        let word = try self.required(for: command)
        let capability = word == "alerts" ? .alert : Capabilities(names: [word])
        guard !capability.isEmpty else { throw CommandError("'\(word)' is none of alerts, badge, sound, background") }
        return capability
    }

    /// Returns the quiet hours; `nil` for `off`.
    mutating func quietTimes() throws -> NotificationPreferences.QuietHours? {
        let from = try self.required(for: "quiet")
        if from == "off" { return nil }
        let to = try self.required(for: "quiet")
        guard let hours = NotificationPreferences.QuietHours(from: from, to: to) else {
            throw CommandError("'\(from) \(to)' are no two different times from 00:00 to 23:59")
        }
        return hours
    }

    mutating func wait() throws -> PhoneCommand {
        let event = try self.required(for: "wait")
        guard let name = SimulatorEvent.Name(rawValue: event) else {
            let known = SimulatorEvent.Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError("'\(event)' is no event: these are \(known)")
        }
        let count = try self.whole(1...100_000) ?? 1
        let seconds = try self.whole(1...PhoneCommand.longestWait) ?? PhoneCommand.defaultWait
        return .wait(name, count: count, seconds: seconds)
    }

    private mutating func whole(_ range: ClosedRange<Int>) throws -> Int? {
        guard let word = self.next() else { return nil }
        guard let number = Int(word), range.contains(number) else {
            throw CommandError("'\(word)' is no number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
