import Foundation
import Logging

/// Writes each log entry as one line to standard error.
struct LineLogHandler: LogHandler {
    let label: String
    let format: LogConfiguration.Format
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = LogLine(
            time: Date.now.iso8601Text,
            level: event.level,
            label: self.label,
            metadata: self.metadata.merging(event.metadata ?? [:]) { $1 },
            message: "\(event.message)"
        )
        if let text = self.format == .json ? line.json : line.text { StandardError.line(text) }
    }
}
