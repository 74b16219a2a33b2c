import Foundation
package import MartletKit

/// A command to the simulated phone, as one line of standard input or of a script.
package enum PhoneCommand: TypedCommand {
    case list
    /// Prints the installation, its tokens, permissions and preferences, and the number of unsent receipts.
    case status
    /// Opens the app with the notification of this number, or with the newest notification for `nil`.
    case open(Int?)
    /// Dismisses the notification of this number, or the newest notification for `nil`.
    case dismiss(Int?)
    /// Chooses an action of a notification, by its number and the action's id. `text` is the user's input, or `nil` for
    /// an action without text input.
    case action(Int, id: String, text: String?)
    /// Reports a conversion of the notification that was opened last: the user did what the notification was sent for.
    /// `name` is the name of the conversion, or `nil` for none.
    case convert(name: String?)
    case background
    case foreground
    /// Sets the number on the app's icon, in place of the app.
    case badge(Int)
    /// Signs the user in with a user proof: a token by which the app's back end confirms who the user is.
    case login(proof: String)
    case logout
    case reinstall
    /// Refuses the notifications of a category, or accepts them again.
    case optOut(String), optIn(String)
    /// Sets the user's quiet hours, or removes them for `nil`.
    case quiet(NotificationPreferences.QuietHours?)
    /// Revokes permissions of the app, such as that for alerts, or grants them.
    case deny(Capabilities), allow(Capabilities)
    /// Sends the app's changes and receipts that were not sent yet.
    case flush
    /// Waits for `count` events of one name that no earlier wait has consumed. Fails if fewer occur within `seconds`.
    case wait(SimulatorEvent.Name, count: Int, seconds: Int)
    case stay
    case help
    case quit

    /// The default time limit of a wait, in seconds.
    package static let defaultWait = 30
    /// The maximum time limit of a wait, in seconds.
    package static let longestWait = 3600

    /// One line of the output of `help`: the words of a command and their meaning.
    package struct Usage: Sendable {
        package let words: String
        package let meaning: String
    }

    /// The commands, in the order in which `help` prints them.
    package static let usage: [Usage] = [
        .init(words: "list", meaning: "the notifications on the lock screen, by thread, the badge and Live Activities"),
        .init(words: "open [N]", meaning: "opens notification N, or the newest"),
        .init(words: "dismiss [N]", meaning: "clears notification N, or the newest"),
        .init(
            words: "action N ID [TEXT]",
            meaning: "chooses an action of notification N, with a text if it asks for one"
        ),
        .init(words: "convert [NAME]", meaning: "does what the notification that was opened last was sent for"),
        .init(words: "background", meaning: "leaves the app"),
        .init(words: "foreground", meaning: "returns to the app"),
        .init(words: "badge N", meaning: "the app sets the number on its icon"),
        .init(words: "login USER-PROOF", meaning: "signs in to the company's account"),
        .init(words: "logout", meaning: "signs out of the company's account"),
        .init(words: "reinstall", meaning: "removes the app and installs it again: another installation and token"),
        .init(words: "optout CATEGORY", meaning: "refuses the notifications of a category"),
        .init(words: "optin CATEGORY", meaning: "accepts them again"),
        .init(words: "quiet FROM TO", meaning: "quiet hours such as 22:00 07:00; 'quiet off' ends them"),
        .init(words: "deny alerts|badge|sound|background", meaning: "withdraws a permission of the app"),
        .init(words: "allow alerts|badge|sound|background", meaning: "gives it"),
        .init(
            words: "wait EVENT [COUNT [SECONDS]]",
            meaning: "waits for events that no earlier wait has counted; default: 1 within 30 s"
        ),
        .init(words: "flush", meaning: "sends what waits to be sent to the provider"),
        .init(words: "status", meaning: "the installation, its token, and what waits to be sent"),
        .init(words: "stay", meaning: "keeps running until Ctrl-C, for a script"),
        .init(words: "quit", meaning: "sends what waits to be sent and ends"),
    ]

    package static var helpText: String {
        CommandScanner.helpText(of: self.usage, events: SimulatorEvent.Name.ofPhones)
    }
}

extension PhoneCommand {
    /// Parses a line. Returns `nil` for an empty line and for a comment, which begins with `#`.
    /// - Throws: ``CommandError``, which explains the syntax, for any other line that is not a command.
    package init?(parsing line: some StringProtocol) throws {
        var words = CommandScanner(line, usage: Self.usage, events: SimulatorEvent.Name.ofPhones)
        guard let name = words.next(), !name.hasPrefix("#") else { return nil }
        self = try Self.parsed(name, &words)
        guard words.next() == nil else { throw words.usageError(of: name) }
    }

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

/// The parsing of arguments of a phone's commands.
extension CommandScanner {
    /// Parses the number of a notification. Returns `nil` if the line has no further word.
    /// - Throws: ``CommandError`` for a word that is not a number.
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

    /// Parses the quiet hours. Returns `nil` for `off`.
    /// - Throws: ``CommandError`` for missing or invalid times.
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

/// An error in a line that was to be a command. Its description is for the user.
package struct CommandError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Scans the words of a line from its start.
struct CommandScanner {
    private var line: Substring
    private let usage: [PhoneCommand.Usage]
    private let events: [SimulatorEvent.Name]

    /// Creates the scanner of a line.
    /// - Parameters:
    ///   - usage: The commands with their meanings, for error messages.
    ///   - events: The events for which the command `wait` can wait.
    init(_ line: some StringProtocol, usage: [PhoneCommand.Usage], events: [SimulatorEvent.Name]) {
        self.line = Substring(line.trimmingCharacters(in: .whitespacesAndNewlines))
        (self.usage, self.events) = (usage, events)
    }

    static func helpText(of usage: [PhoneCommand.Usage], events: [SimulatorEvent.Name]) -> String {
        let width = (usage.map(\.words.count).max() ?? 0) + 2
        let lines = usage.map { usage in
            "  \(usage.words)\(String(repeating: " ", count: width - usage.words.count))\(usage.meaning)"
        }
        return (lines + ["  Events: \(events.map(\.rawValue).joined(separator: ", "))"]).joined(separator: "\n")
    }

    func usageError(of name: String) -> CommandError {
        let usage = self.usage.first { $0.words.split(separator: " ").first == name[...] }
        return CommandError("this is '\(usage?.words ?? name)': \(usage?.meaning ?? "")")
    }

    /// Consumes and returns the next word of the line, or returns `nil` at its end.
    mutating func next() -> String? {
        guard !self.line.isEmpty else { return nil }
        let word = self.line.prefix { !$0.isWhitespace }
        self.line = self.line.dropFirst(word.count).drop(while: \.isWhitespace)
        return String(word)
    }

    /// Consumes and returns the rest of the line, or returns `nil` if nothing is left.
    mutating func rest() -> String? {
        defer { self.line = "" }
        return self.line.isEmpty ? nil : String(self.line)
    }

    mutating func required(for command: String) throws -> String {
        guard let word = self.next() else { throw self.usageError(of: command) }
        return word
    }

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

/// A simulated phone, or a fleet of phones, that executes a user's commands.
package protocol PhoneCommandHandler<Command>: Sendable {
    associatedtype Command: TypedCommand

    /// Executes a command of the user.
    /// - Returns: The response as text and as JSON, or `nil` for a command without a response.
    /// - Throws: ``PhoneError`` for a command that is not possible now, or ``WaitError`` for a wait that timed out.
    func perform(_ command: Command) async throws -> SimulatorResponse?

    /// Sends pending changes and receipts, within a time limit.
    /// - Returns: The number of receipts that are left for the next run.
    func flush() async -> Int
}

/// A command to a phone, as one line of standard input or of a script.
package protocol TypedCommand: Hashable, Sendable {
    /// Parses a line. Returns `nil` for an empty line and for a comment, which begins with `#`.
    /// - Throws: ``CommandError``, which explains the syntax, for any other line that is not a command.
    init?(parsing line: some StringProtocol) throws

    static var quit: Self { get }
}
