import ArgumentParser

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Option(help: "Settings in JSON. Default: martlet.json in the working directory, if there is one.")
    var config: String?
    @OptionGroup var log: SettingFlags<LogSettings>

    /// Returns the settings of a run: flags over environment over file.
    /// - Parameter flags: The command's own flags.
    func settings(_ flags: [any FlagValues] = []) async throws -> SettingsReader {
        for setting in flags.flatMap({ $0.exposed }) {
            StandardError.line("warning: \(setting.exposureText)")
        }
        let all = flags.reduce(self.log.values) { $0.merging($1.values) { $1 } }
        return try await SettingsReader(flags: all, file: self.config)
    }
}
