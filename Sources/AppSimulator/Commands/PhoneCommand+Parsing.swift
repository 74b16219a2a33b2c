import Foundation
import MartletKit

extension PhoneCommand {
    /// Reads a line. Returns `nil` for an empty one, and for a comment, which begins with `#`.
    /// - Throws: ``CommandError`` that says what the command takes.
    package init?(parsing line: some StringProtocol) throws {
        var words = CommandScanner(line, usage: Self.usage, events: SimulatorEvent.Name.ofPhones)
        guard let name = words.next(), !name.hasPrefix("#") else { return nil }
        self = try Self.parsed(name, &words)
        guard words.next() == nil else { throw words.usageError(of: name) }
    }

    /// Reads the words of one command.
    private static func parsed(_ name: String, _ words: inout CommandScanner) throws -> PhoneCommand {
        switch name {
        case "list": return .list
        case "status": return .status
        case "open": return .open(try words.number(for: name))
        case "dismiss": return .dismiss(try words.number(for: name))
        case "action":
            guard let number = try words.number(for: name), let id = words.next() else {
                throw words.usageError(of: name)
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
        case "wait":
            let wait = try words.wait()
            return .wait(wait.name, count: wait.count, seconds: wait.seconds)
        case "flush": return .flush
        case "stay": return .stay
        case "help": return .help
        case "quit", "exit": return .quit
        default: throw CommandError("unknown command '\(name)': 'help' lists all")
        }
    }
}

/// The words of a phone's commands.
extension CommandScanner {
    /// Returns the number of a notification; `nil` for none.
    fileprivate mutating func number(for command: String) throws -> Int? {
        guard let word = self.next() else { return nil }
        guard let number = Int(word), number > 0 else {
            throw CommandError("'\(word)' is not the number of a notification: 'list' shows them in brackets")
        }
        return number
    }

    fileprivate mutating func badge() throws -> Int {
        let word = try self.required(for: "badge")
        guard let number = Int(word), number >= 0 else { throw CommandError("'\(word)' is not a number of 0 or more") }
        return number
    }

    fileprivate mutating func capability(for command: String) throws -> Capabilities {
        let word = try self.required(for: command)
        let capability = word == "alerts" ? .alert : Capabilities(names: [word])
        guard !capability.isEmpty else {
            throw CommandError("'\(word)' is not one of alerts, badge, sound, background")
        }
        return capability
    }

    /// Returns the quiet hours; `nil` for `off`.
    fileprivate mutating func quietTimes() throws -> NotificationPreferences.QuietHours? {
        let from = try self.required(for: "quiet")
        if from == "off" { return nil }
        let to = try self.required(for: "quiet")
        guard let hours = NotificationPreferences.QuietHours(from: from, to: to) else {
            throw CommandError("'\(from) \(to)' are not two different times from 00:00 to 23:59")
        }
        return hours
    }
}
