import Logging

/// The settings of the log.
enum LogSettings: SettingSection {
    static let level = Setting(
        "log.level",
        flag: "log-level",
        kind: .choice(Logger.Level.allCases.map(\.rawValue)),
        default: "info, warning for device and send, error for demo"
    )
    .help("The lowest level that is logged")
    static let format = Setting.choice("log.format", flag: "log-format", default: LogConfiguration.Format.text)
        .help("The form of log lines on standard error")
        .detail("`json` is one object per line. Logs never hold whole tokens or secrets.")

    static let settings = [level, format]
}

/// Makes the loggers of a run, which write to standard error.
struct LogConfiguration: Sendable {
    /// The form of a log line.
    enum Format: String, CaseIterable, Sendable { case text, json }

    private let level: Logger.Level
    private let format: Format

    /// - Parameter defaultLevel: The level where the settings have none.
    init(_ settings: SettingsReader, defaultLevel: Logger.Level = .info) {
        self.level = settings.choice(LogSettings.level, default: defaultLevel)
        self.format = settings.choice(LogSettings.format, default: .text)
    }

    /// Returns a logger with the level and the format of the settings.
    func logger(_ label: String) -> Logger {
        var logger = Logger(label: label) { LineLogHandler(label: $0, format: self.format) }
        logger.logLevel = self.level
        return logger
    }
}
