import ArgumentParser
import Configuration
import Logging

/// The options that every command has.
struct CommonOptions: ParsableArguments {
    @Option(help: "Settings in JSON. Default: martlet.json in the working directory, if there is one.")
    var config: String?

    @Option(help: "trace, debug, info, notice, warning, error or critical (log.level; default: info).")
    var logLevel: String?

    @Option(help: "text or json (log.format; default: text). Logs go to standard error.")
    var logFormat: String?

    /// Flags over environment over file.
    func settings(_ flags: [String: ConfigValue?] = [:]) async throws -> Settings {
        var all = flags
        all["log.level"] = self.logLevel.setting()
        all["log.format"] = self.logFormat.setting()
        return try await Settings(flags: all, file: self.config)
    }
}
