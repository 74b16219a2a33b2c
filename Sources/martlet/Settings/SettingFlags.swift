import ArgumentParser
import Configuration
import Logging

/// A section of the table of settings, whose flags are shown together in the help of a command.
protocol SettingSection {
    static var settings: [Setting] { get }
}

/// A section of the table whose settings are applied to a configuration.
protocol ConfigurationSection: SettingSection {
    associatedtype Target: SettingTarget
    /// The settings, each with the code that copies its value to the configuration.
    static var rows: [SettingRow<Target>] { get }
}

extension ConfigurationSection {
    static var settings: [Setting] { self.rows.map(\.setting) }

    /// Copies all values that the user has given to a configuration. The caller must then call
    /// ``SettingsReader/check()``.
    static func apply(_ settings: SettingsReader, to target: inout Target) {
        for row in self.rows { row.apply(settings, &target) }
    }
}

/// The flags that were given on the command line, with their values.
protocol FlagValues {
    /// The values of the flags that were given, by the keys of their settings.
    var values: [String: ConfigValue] { get }
    /// The settings whose flags were given with secrets, which other users can see in the process list.
    var exposed: [Setting] { get }
}

/// The flags of one section of the table, as an option group of a command. ArgumentParser finds the arguments of a type
/// by reflection. In place of its stored properties, this type reflects an argument for each setting of its section, so
/// that no setting is declared twice.
struct SettingFlags<Section: SettingSection>: ParsableArguments, FlagValues, CustomReflectable {
    private(set) var values: [String: ConfigValue] = [:]

    var exposed: [Setting] { Section.settings.filter { $0.holdsSecret(self.values[$0.key]) } }

    init() {}

    init(from decoder: any Decoder) throws {
        let flags = try decoder.container(keyedBy: FlagName.self)
        for setting in Section.settings {
            guard let name = setting.flag.map(FlagName.init) else { continue }
            let content: ConfigContent? =
                switch setting.kind {
                case .integer, .number: try flags.decodeIfPresent(Int.self, forKey: name).map { .int($0) }
                // Without the flag, the environment and the file decide.
                case .toggle: try flags.decodeIfPresent(Bool.self, forKey: name) == true ? .bool(true) : nil
                case .list:
                    try flags.decodeIfPresent([String].self, forKey: name).flatMap {
                        $0.isEmpty ? nil : .stringArray($0)
                    }
                case .text, .secret, .choice: try flags.decodeIfPresent(String.self, forKey: name).map { .string($0) }
                }
            self.values[setting.key] = content.map { ConfigValue($0, isSecret: setting.isSecret) }
        }
    }

    func has(_ setting: Setting) -> Bool { self.values[setting.key] != nil }

    /// One argument for each setting that has a flag.
    var customMirror: Mirror {
        let arguments = Section.settings.compactMap { setting in
            setting.flag.map { (label: $0 as String?, value: Self.argument($0, setting)) }
        }
        return Mirror(self, children: arguments, displayStyle: .struct)
    }

    /// Returns the property wrapper of ArgumentParser that declares the flag of a setting.
    private static func argument(_ flag: String, _ setting: Setting) -> Any {
        let name = NameSpecification.customLong(flag)
        let help = ArgumentHelp(stringLiteral: setting.argumentHelp)
        return switch setting.kind {
        // A negative number must be parsed as a value, to be rejected as out of range, and not as the next flag.
        case .integer, .number: Option<Int?>(name: name, parsing: .unconditional, help: help)
        case .toggle: Flag<Bool>(wrappedValue: false, name: name, help: help)
        case .list: Option<[String]>(wrappedValue: [], name: name, help: help)
        case .text, .secret, .choice: Option<String?>(name: name, help: help)
        }
    }
}

/// The key under which ArgumentParser stores the value of a flag.
private struct FlagName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { self.stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

extension Setting {
    /// Returns whether the value of the flag contains a secret. The URL of a proxy does so only if it contains a user.
    fileprivate func holdsSecret(_ value: ConfigValue?) -> Bool {
        guard self.isSecret, let value else { return false }
        guard self.flag == "proxy", case .string(let address) = value.content else { return true }
        return address.contains("@")
    }

    /// The warning that a secret on the command line is visible to other users.
    var exposureText: String {
        """
        --\(self.flag ?? "") shows a secret to the other users of this machine: give it as \(self.environmentVariable), \
        or in the file of --config
        """
    }
}

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Option(help: "Settings in JSON. Default: martlet.json in the working directory, if there is one.")
    var config: String?
    @OptionGroup var log: SettingFlags<LogSettings>

    /// Returns the settings with which the command was run. Flags override the environment, which overrides the file.
    /// - Parameter flags: The flags of the command, in addition to those of every command.
    /// - Throws: ``SettingsError`` for a settings file or a name that is invalid.
    func settings(_ flags: [any FlagValues] = []) async throws -> SettingsReader {
        for setting in flags.flatMap({ $0.exposed }) {
            StandardError.line("warning: \(setting.exposureText)")
        }
        let all = flags.reduce(self.log.values) { $0.merging($1.values) { $1 } }
        return try await SettingsReader(flags: all, file: self.config)
    }
}

/// The settings of the log.
enum LogSettings: SettingSection {
    /// The format of a log line.
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
