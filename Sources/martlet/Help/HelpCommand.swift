import ArgumentParser

/// `martlet help`: shows the help of a command, or the table of settings.
struct HelpCommand: ParsableCommand {
    static let configuration = command("help", "Show the help of a command; 'help settings' lists all settings.")
        .detail(
            """
            'martlet help settings serve' lists the settings whose keys begin with serve.

            Example: martlet help gateway app
            """
        )

    @Argument(help: "The names of a command, or 'settings' and the beginning of a key.") var words: [String] = []
    @Flag(help: "Print settings as docs/settings.md has them.") var markdown = false

    func run() throws {
        guard self.words.first == "settings" else { throw CleanExit.helpRequest(try Self.subcommand(self.words)) }
        let parts = SettingTable.parts(matching: self.words.dropFirst().first)
        guard !parts.isEmpty, self.words.count <= 2 else {
            throw ValidationError("There is no setting \(self.words.dropFirst().joined(separator: " ")).")
        }
        let text = self.markdown ? SettingTableText.markdown(parts) : SettingTableText.plain(parts) + "\n"
        StandardOutput.line(text, terminator: "")
    }

    /// Returns the command with these names, beginning below `martlet`. Further names are ignored.
    private static func subcommand(_ names: [String]) throws -> any ParsableCommand.Type {
        var command: any ParsableCommand.Type = Martlet.self
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
