/// A command to a reader, as one line of standard input or of a script.
package enum LibraryCommand: TypedCommand {
    case library
    case list
    /// Opens the issue of this product, or for `nil` the newest one that is marked as not opened.
    case open(product: String?)
    /// Brings the app to the foreground, which registers again and loads the catalogue.
    case activate
    case network(ReaderNetwork)
    /// Waits for `count` events of one name that no earlier wait has consumed. Fails if fewer occur within `seconds`.
    case wait(SimulatorEvent.Name, count: Int, seconds: Int)
    case stay
    case help
    case quit

    private static let usage: [PhoneCommand.Usage] = [
        .init(words: "library", meaning: "the issues: mark, number, title, date, state, size, grounds"),
        .init(words: "list", meaning: "the notifications that were shown, and the badge"),
        .init(words: "open [PRODUCT]", meaning: "opens an issue, or the newest that has a mark"),
        .init(words: "activate", meaning: "returns to the app: it registers again and loads the catalogue"),
        .init(words: "network wifi|cellular|none", meaning: "changes the network from now on"),
        .init(
            words: "wait EVENT [COUNT [SECONDS]]",
            meaning: "waits for events that no earlier wait has counted; default: 1 within 30 s"
        ),
        .init(words: "stay", meaning: "keeps running until Ctrl-C, for a script"),
        .init(words: "quit", meaning: "ends; what is under way continues with the next run"),
    ]

    package static var helpText: String {
        CommandScanner.helpText(of: self.usage, events: SimulatorEvent.Name.ofReaders)
    }

    /// Parses a line. Returns `nil` for an empty line and for a comment, which begins with `#`.
    /// - Throws: ``CommandError``, which explains the syntax, for any other line that is not a command.
    package init?(parsing line: some StringProtocol) throws {
        var words = CommandScanner(line, usage: Self.usage, events: SimulatorEvent.Name.ofReaders)
        guard let name = words.next(), !name.hasPrefix("#") else { return nil }
        switch name {
        case "library": self = .library
        case "list": self = .list
        case "open": self = .open(product: words.next())
        case "activate": self = .activate
        case "network":
            let word = try words.required(for: name)
            guard let network = ReaderNetwork(rawValue: word) else {
                throw CommandError("'\(word)' is not one of wifi, cellular, none")
            }
            self = .network(network)
        case "wait":
            let wait = try words.wait()
            self = .wait(wait.name, count: wait.count, seconds: wait.seconds)
        case "stay": self = .stay
        case "help": self = .help
        case "quit", "exit": self = .quit
        default: throw CommandError("unknown command '\(name)': 'help' lists all")
        }
        guard words.next() == nil else { throw words.usageError(of: name) }
    }
}

extension SimulatorEventLog {
    /// Executes a command that needs only the events of a reader: `wait`, `stay` or `help`.
    /// - Returns: The response to `help`, or `nil`.
    /// - Throws: ``WaitError`` for a wait that timed out, and `CancellationError`.
    func perform(_ command: LibraryCommand) async throws -> SimulatorResponse? {
        switch command {
        case .wait(let name, let count, let seconds): try await self.wait(for: name, count: count, seconds: seconds)
        case .stay: try await Task.sleep(for: .seconds(Int64.max / 4))
        case .help: return SimulatorResponse(help: LibraryCommand.helpText)
        default: break
        }
        return nil
    }
}
