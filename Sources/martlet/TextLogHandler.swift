import Foundation
import Logging

/// Writes each log entry as one line of text: time, level, label, metadata, message.
///
/// What comes from elsewhere may stand in messages and metadata. Newlines and other control characters are written as
/// `\n` or `\u{1B}`, so that nobody else can write a line of the log, or steer the terminal that shows it.
struct TextLogHandler: LogHandler {
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
        let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        StandardError.write(Self.line(time: time, event.level, self.label, metadata, "\(event.message)") + "\n")
    }

    static func line(
        time: String,
        _ level: Logger.Level,
        _ label: String,
        _ metadata: Logger.Metadata,
        _ message: String
    ) -> String {
        let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        return Self.escaped("\(time) \(level) \(label):\(pairs) \(message)")
    }

    /// The text without control characters, line separators and marks that change the direction of writing.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            case _ where Self.isHarmful(scalar): escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }
}
