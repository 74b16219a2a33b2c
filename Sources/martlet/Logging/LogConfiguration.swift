import Foundation
import Logging
import PushSupport

/// Creates the loggers of a command, which write to standard error.
struct LogConfiguration: Sendable {
    private let level: Logger.Level
    private let format: LogSettings.Format

    /// Reads the level and the format from the settings.
    /// - Parameter defaultLevel: The log level that applies if the settings specify none.
    init(_ settings: SettingsReader, defaultLevel: Logger.Level = .info) {
        self.level = settings.choice(LogSettings.level, default: defaultLevel)
        self.format = settings.choice(LogSettings.format, default: .text)
    }

    /// Returns a logger with the level and the format that the settings specify.
    func logger(_ label: String) -> Logger {
        var logger = Logger(label: label) { LineLogHandler(label: $0, format: self.format) }
        logger.logLevel = self.level
        return logger
    }
}

/// A log handler that writes each entry as one line to standard error.
private struct LineLogHandler: LogHandler {
    let label: String
    let format: LogSettings.Format
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

/// A log entry that is formatted as a line of text or of JSON.
struct LogLine {
    let time: String
    let level: Logger.Level
    let label: String
    let metadata: Logger.Metadata
    let message: String

    /// The entry as a line of text: time, level, label, metadata and message. Messages and metadata may contain
    /// untrusted text. Line breaks and other control characters are escaped as `\n` or `\u{1B}`, so that untrusted text
    /// can neither add a line to the log nor control the terminal that shows it.
    var text: String {
        let pairs = self.metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        return Self.escaped("\(self.time) \(self.level) \(self.label):\(pairs) \(self.message)")
    }

    /// The entry as JSON: `time`, `level`, `label`, `message` and `metadata`. It is `nil` if encoding fails.
    var json: String? {
        let metadata = self.metadata.isEmpty ? nil : JSONValue.object(self.metadata.mapValues { $0.description.json })
        let entry = JSONValue.members([
            "time": self.time.json, "level": self.level.rawValue.json, "label": self.label.json,
            "message": self.message.json, "metadata": metadata,
        ])
        return try? entry.line
    }

    /// Returns the string with control characters, line separators and marks that change the writing direction escaped.
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

    /// Returns whether a character could add a line, hide text or reverse its direction.
    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }
}

/// Writes the first line of a server's log, which contains its data directory, settings file and version.
enum StartLine {
    /// Logs the data directory and the settings file as absolute paths, with the version.
    static func log(to logger: Logger, _ message: Logger.Message, data: String, _ settings: SettingsReader) {
        var metadata: Logger.Metadata = ["data": "\(Self.absolute(data))", "version": "\(Version.text)"]
        metadata["settings"] = "\(settings.file.map(Self.absolute) ?? "none")"
        logger.info(message, metadata: metadata)
    }

    private static func absolute(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }
}
