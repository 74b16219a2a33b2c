import Foundation
import Logging

/// Writes each log entry as one line of JSON: `time`, `level`, `label`, `message`, `metadata`.
struct JSONLogHandler: LogHandler {
    private struct Entry: Encodable {
        var time: String
        var level: String
        var label: String
        var message: String
        var metadata: [String: String]?
    }

    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(label: String) {
        self.label = label
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
        let entry = Entry(
            time: Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            level: event.level.rawValue,
            label: self.label,
            message: event.message.description,
            metadata: metadata.isEmpty ? nil : metadata.mapValues(\.description)
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(entry) else { return }
        StandardError.write(String(decoding: line, as: UTF8.self) + "\n")
    }
}
