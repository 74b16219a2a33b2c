import ArgumentParser
import Foundation
import PushHTTP
import PushSupport

/// `martlet help`: shows the help of a command, the table of settings, completions and manual pages.
struct HelpCommand: ParsableCommand {
    static let configuration = command("help")
        .help("Show the help of a command, all settings, or write shell completions and manual pages.")
        .detail(
            """
            'martlet help settings serve' lists the settings whose keys begin with serve, 'martlet help resources' what \
            callers of a provider compete for. \
            'martlet help completions bash' prints the completions of a shell: bash, zsh or fish. 'martlet help man' \
            writes the manual pages to a directory.
            """
        )
        .example("help gateway app")
        .example("help settings serve.dispatch")
        .example("help completions bash > /etc/bash_completion.d/martlet")
        .example("help man --output /usr/local/share/man/man1")

    @Argument(help: "The names of a command; or 'settings' and the beginning of a key, 'completions SHELL', 'man'.")
    var words: [String] = []
    @Flag(help: "Print settings in the form of docs/settings.md.") var markdown = false
    @Option(help: "The directory for manual pages, which is created; existing pages are replaced.") var output: String?

    func run() throws {
        let rest = Array(self.words.dropFirst())
        guard self.output == nil || self.words == ["man"] else {
            throw ValidationError("--output is for 'martlet help man'.")
        }
        switch self.words.first {
        case "settings": try self.settings(rest)
        case "resources" where rest.isEmpty: try StandardOutput.result(ResourceTableText.markdown, terminator: "")
        case "completions": try Self.completions(rest)
        case "man" where rest.isEmpty: try self.manual()
        default: throw CleanExit.helpRequest(try Self.subcommand(self.words))
        }
    }

    private func settings(_ words: [String]) throws {
        let parts = SettingTable.parts(matching: words.first)
        guard !parts.isEmpty, words.count <= 1 else {
            throw ValidationError("There is no setting \(words.joined(separator: " ")).")
        }
        let text = self.markdown ? SettingTableText.markdown(parts) : SettingTableText.plain(parts) + "\n"
        try StandardOutput.result(text, terminator: "")
    }

    private static func completions(_ words: [String]) throws {
        guard let shell = words.first.flatMap(CompletionShell.init(rawValue:)), words.count == 1 else {
            let shells = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("Name the shell: one of \(shells).")
        }
        try StandardOutput.result(MartletCommand.completionScript(for: shell))
    }

    /// Writes the manual pages to a directory, with the date in `SOURCE_DATE_EPOCH` for reproducible builds.
    private func manual() throws {
        guard let output else { throw ValidationError("Name the directory for the pages with --output.") }
        let epoch = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap(TimeInterval.init)
        let pages = try ManualPage.all(date: epoch.map(Date.init(timeIntervalSince1970:)) ?? Date())
        do {
            try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
            for page in pages {
                try Data(page.text.utf8).write(to: URL(filePath: output).appending(path: page.name))
            }
        } catch {
            throw SettingsError("--output: \(output) cannot be written: \(ErrorDescription.of(error))")
        }
        try StandardOutput.result("\(pages.count) manual pages are in \(output)")
    }

    /// Returns the command whose name consists of `martlet` and these words.
    /// - Throws: A validation error for an unknown name.
    private static func subcommand(_ names: [String]) throws -> any ParsableCommand.Type {
        var command: any ParsableCommand.Type = MartletCommand.self
        for name in names {
            let children =
                command.configuration.subcommands + command.configuration.groupedSubcommands.flatMap(\.subcommands)
            guard let child = children.first(where: { $0._commandName == name }) else {
                throw ValidationError("There is no command '\(names.joined(separator: " "))'.")
            }
            command = child
        }
        return command
    }
}

/// Formats the table of limited resources for which callers compete, as in docs/security.md.
enum ResourceTableText {
    /// The lines of docs/security.md between which the table is placed.
    static let markers = (begin: "<!-- resources: begin -->", end: "<!-- resources: end -->")

    static var markdown: String {
        let head = """
            | Resource | Whole | App | Caller | Waiting | Setting | Refusal |
            |---|---|---|---|---|---|---|

            """
        return PushSupport.BudgetedResource.allCases.reduce(into: head) { $0 += self.line($1) + "\n" }
    }

    private static func line(_ resource: PushSupport.BudgetedResource) -> String {
        let row = resource.row
        let bounds = row.limits.bounds
        let cells = [
            "`\(resource.rawValue)`: \(row.noun)", self.text(bounds.whole), self.text(bounds.app),
            bounds.caller.map { "\(row.caller): \(self.text($0))" } ?? "", self.waiting(row.limits),
            row.setting.map { "`\($0)`" } ?? "",
            row.outcome ?? "\("\(row.kind.status)".prefix(3)) `\(row.code)`: \(row.remedy)",
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    private static func text(_ bound: BudgetBound?) -> String {
        switch bound {
        case nil: ""
        case .held(let most): "\(most) at a time"
        case .timesFree(1): "as much as is free"
        case .timesFree(let times): "\(times) times what is free"
        case .rate(let rate, let burst) where rate < 1:
            "\(self.number(60 * rate)) a minute, \(self.number(burst)) at once"
        case .rate(let rate, let burst): "\(self.number(rate)) a second, \(self.number(burst)) at once"
        }
    }

    private static func waiting(_ limits: BudgetLimits) -> String {
        guard let waiting = limits.waiting else { return "" }
        let levels = BudgetLevel.allCases.compactMap { level in waiting[level].map { "\(level.rawValue) \($0)" } }
        return "\(levels.joined(separator: ", ")); \(limits.patience.components.seconds) s"
    }

    private static func number(_ value: Double) -> String { "\(Int(value))" }
}
