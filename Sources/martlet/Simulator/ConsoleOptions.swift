import AppSimulator
import ArgumentParser

/// The options of a command with a phone that are about its user: the commands, and the form of what is printed.
struct ConsoleOptions: ParsableArguments {
    @Option(help: "File with commands, one a line.") var script: String?
    @Flag(help: "One line of JSON per event.") var json = false
    @Argument(parsing: .postTerminator, help: "Commands, after --; each is one argument.") var commands: [String] = []

    /// Prints the events and answers.
    var printer: SimulatorPrinter { SimulatorPrinter(asJSON: self.json) }

    /// Returns the commands of the script or of the arguments; `nil` for those of standard input.
    /// - Throws: `ValidationError` for both, and ``SettingsError`` that names the line.
    func input<Command: TypedCommand>() throws -> [Command]? {
        guard self.script == nil || self.commands.isEmpty else {
            throw ValidationError("Give commands after -- or in a --script, not both.")
        }
        if let script {
            return try SimulatorInput.script(try InputFile.text(script, for: "--script"))
        }
        let commands: [Command] = try SimulatorInput.commands(self.commands, of: "the arguments after --")
        return commands.isEmpty ? nil : commands
    }
}
