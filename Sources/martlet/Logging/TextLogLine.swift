import Logging

/// A log entry as one line of text: time, level, label, metadata, message.
///
/// Messages and metadata may have text from outside. Line breaks and other control characters are written as `\n` or
/// `\u{1B}`, so that such text can neither add a line to the log nor control the terminal that shows it.
enum TextLogLine {
    /// Returns the line.
    static func make(
        _ time: String,
        _ level: Logger.Level,
        _ label: String,
        _ metadata: Logger.Metadata,
        _ message: String
    ) -> String {
        let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        return Self.escaped("\(time) \(level) \(label):\(pairs) \(message)")
    }

    /// Returns the text without control characters, line separators and marks that change the direction of writing.
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
