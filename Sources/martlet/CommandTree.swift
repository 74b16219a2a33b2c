import ArgumentParser
import Foundation

/// A command with its options and subcommands, as ArgumentParser describes them.
struct CommandTree: Decodable, Sendable {
    struct Argument: Decodable, Sendable {
        /// One of the names of an option or a flag.
        struct Name: Decodable, Sendable {
            let kind: String
            let name: String

            /// The name with its leading hyphens, as users type it.
            var spelling: String { self.kind == "long" ? "--\(self.name)" : "-\(self.name)" }
        }

        let kind: String
        let names: [Name]?
        let abstract: String?
        let defaultValue: String?
        let valueName: String?
        let isOptional: Bool
        let isRepeating: Bool
        let shouldDisplay: Bool

        /// The setting whose value the argument provides, or `nil` for an argument without a setting.
        var setting: Setting? {
            let names = self.names ?? []
            return names.lazy.flatMap { Self.settings[$0.name] ?? [] }.first { $0.argumentHelp == self.abstract }
        }

        private static let settings = Dictionary(grouping: SettingTable.all.flatMap(\.settings)) { $0.flag }

        /// A string that identifies an option of several commands, so that a manual page describes it only once.
        var identity: String { "\(self.names?.first?.spelling ?? "") \(self.valueName ?? "") \(self.abstract ?? "")" }
    }

    private struct Dump: Decodable, Sendable { let command: CommandTree }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let defaultSubcommand: String?
    let subcommands: [CommandTree]?
    let arguments: [Argument]?
    let shouldDisplay: Bool?

    /// The description of all commands. It is decoded only once, because decoding takes time.
    private static let dump = Result {
        try JSONDecoder().decode(Dump.self, from: Data(MartletCommand._dumpHelp().utf8))
    }

    static func root() throws -> CommandTree { try self.dump.get().command }

    /// The subcommands that help shows. ArgumentParser's own `help`, which follows Martlet's in the list, is left out.
    var children: [CommandTree] {
        var names: Set<String> = []
        return (self.subcommands ?? []).filter { $0.shouldDisplay != false && names.insert($0.commandName).inserted }
    }

    /// The options, flags and positional arguments that help shows, without `--help` and `--version`.
    var shownArguments: [Argument] {
        (self.arguments ?? []).filter { argument in
            argument.shouldDisplay && argument.names?.contains { ["help", "version"].contains($0.name) } != true
        }
    }

    /// The long description of the command, without the examples.
    var details: String {
        let lines = (self.discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.prefix { !$0.hasPrefix(CommandConfiguration.exampleMark) }
        return text.joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The examples, each with its command line and the text that follows it.
    var examples: [String] {
        let parts = (self.discussion ?? "").components(separatedBy: CommandConfiguration.exampleMark)
        return parts.dropFirst().map { "martlet \($0.trimmingCharacters(in: .whitespacesAndNewlines))" }
    }
}
