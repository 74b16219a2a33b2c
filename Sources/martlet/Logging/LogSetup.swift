import Foundation
import Logging

/// Makes the loggers of a run, writing to standard error.
struct LogSetup: Sendable {
    enum Format: String, CaseIterable, Sendable {
        case text
        case json
    }

    private let level: Logger.Level
    private let format: Format

    init(_ settings: Settings, defaultLevel: Logger.Level = .info) {
        self.level = settings.choice("log.level", default: defaultLevel)
        self.format = settings.choice("log.format", default: .text)
    }

    func logger(_ label: String) -> Logger {
        var logger = Logger(label: label) { label in
            switch self.format {
            case .text: LineLogHandler(label: label, format: TextLogLine.make)
            case .json: LineLogHandler(label: label, format: JSONLogLine.make)
            }
        }
        logger.logLevel = self.level
        return logger
    }
}
