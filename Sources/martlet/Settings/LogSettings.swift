import Logging

/// The settings of the log.
enum LogSettings: SettingSection {
    /// The form of a log line.
    enum Format: String, CaseIterable, Sendable { case text, json }

    static let level = Setting(
        "log.level",
        flag: "log-level",
        kind: .choice(Logger.Level.allCases.map(\.rawValue)),
        default: "info, warning for device and send, error for demo"
    )
    .help("The lowest level that is logged")
    static let format = Setting.choice("log.format", flag: "log-format", default: Format.text)
        .help("The form of log lines on standard error")
        .detail("`json` is one object per line. Logs never hold whole tokens or secrets.")

    static let settings = [level, format]
}
