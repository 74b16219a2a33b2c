import Foundation
import Logging

/// A log entry as one line of JSON: `time`, `level`, `label`, `message`, `metadata`.
enum JSONLogLine {
    private struct Entry: Encodable {
        var time: String
        var level: String
        var label: String
        var message: String
        var metadata: [String: String]?
    }

    /// Returns the line; `nil` for an entry that cannot be encoded.
    static func make(
        _ time: String,
        _ level: Logger.Level,
        _ label: String,
        _ metadata: Logger.Metadata,
        _ message: String
    ) -> String? {
        let entry = Entry(
            time: time,
            level: level.rawValue,
            label: label,
            message: message,
            metadata: metadata.isEmpty ? nil : metadata.mapValues(\.description)
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(entry)).map { String(decoding: $0, as: UTF8.self) }
    }
}
