import Logging

/// Makes the loggers of a run, which write to standard error.
struct LogConfiguration: Sendable {
    private let level: Logger.Level
    private let format: LogSettings.Format

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
