import Foundation
import Logging

/// Writes each log entry as one line to standard error.
struct LineLogHandler: LogHandler {
    /// A function that makes the line of an entry, without its end; `nil` leaves the entry out.
    typealias Format =
        @Sendable (
            _ time: String, _ level: Logger.Level, _ label: String, _ metadata: Logger.Metadata, _ message: String
        ) -> String?

    let label: String
    let format: Format
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(label: String, format: @escaping Format) {
        self.label = label
        self.format = format
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
        let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        guard let line = self.format(time, event.level, self.label, metadata, "\(event.message)") else { return }
        StandardError.write("\(line)\n")
    }
}
