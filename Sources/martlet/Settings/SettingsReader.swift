import Configuration
import Foundation
import Synchronization

/// The settings of one run. Flags override environment variables (`MARTLET_…`), which override the JSON file. A command
/// reads all settings that it needs, and then calls ``check()``. For a value of the wrong type or out of its range,
/// that throws an error that names the key. Such a value is never silently replaced with the default.
struct SettingsReader: Sendable {
    /// The name of the settings file that is read if no other is specified.
    static let defaultFile = "martlet.json"

    /// The reader of flags, environment variables and the file, in this order of precedence.
    private let reader: ConfigReader
    /// The errors found so far, which ``check()`` throws.
    private let errors = SettingErrorCollector()

    /// The path of the settings file that was read, or `nil` if none was.
    let file: String?

    /// Reads flags, environment variables and the settings file. Warns on standard error about each former name.
    /// - Parameters:
    ///   - flags: The values of flags by key.
    ///   - file: The path of the settings file, or `nil` for ``defaultFile`` if that exists.
    /// - Throws: ``SettingsError`` for a file that cannot be read, and for names that no setting has.
    init(
        flags: [String: ConfigValue] = [:],
        file: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws {
        self.file = file ?? (FileManager.default.fileExists(atPath: Self.defaultFile) ? Self.defaultFile : nil)
        let variables = SettingsEnvironment(environment)
        let members = try self.file.map { try SettingsFile(path: $0) }
        for warning in variables.warnings + (members?.warnings ?? []) { StandardError.line("warning: \(warning)") }
        let unknown = variables.errors + (members?.errors ?? [])
        guard unknown.isEmpty else { throw SettingsError(unknown.joined(separator: "\n"), status: .usage) }

        let providers: [any ConfigProvider] = [
            Self.provider("flags", flags), Self.provider("environment lists", Self.lists(in: variables.values)),
            EnvironmentVariablesProvider(environmentVariables: variables.values).prefixKeys(with: "martlet"),
            Self.provider("file", members?.values ?? [:]),
        ]
        self.reader = ConfigReader(providers: providers, accessReporter: self.errors)
    }

    private static func provider(_ name: String, _ values: [String: ConfigValue]) -> InMemoryProvider {
        let values = values.map { (AbsoluteConfigKey($0.key.split(separator: ".").map(String.init)), $0.value) }
        return InMemoryProvider(name: name, values: Dictionary(values) { $1 })
    }

    /// Returns the lists whose separator is not the comma, because swift-configuration would split them at commas.
    private static func lists(in variables: [String: String]) -> [String: ConfigValue] {
        var lists: [String: ConfigValue] = [:]
        for setting in SettingNames.all.byKey.values where setting.kind == .list && setting.separator != "," {
            guard let text = variables[setting.environmentVariable] else { continue }
            let elements = text.split(separator: setting.separator).map { $0.trimmingCharacters(in: .whitespaces) }
            lists[setting.key] = ConfigValue(.stringArray(elements.filter { !$0.isEmpty }), isSecret: false)
        }
        return lists
    }

    /// Returns the value of a setting as a string, or `nil` if it is absent.
    func string(_ setting: Setting) -> String? {
        self.reader.string(forKey: ConfigKey(setting.key), isSecret: setting.kind == .secret)
    }

    /// Returns the value of a setting as a string, or else its default, or an empty string if it has no default.
    func text(_ setting: Setting) -> String { self.string(setting) ?? setting.defaultText ?? "" }

    /// Returns the strings of a list, or `nil` if the setting is absent.
    func strings(_ setting: Setting) -> [String]? { self.reader.stringArray(forKey: ConfigKey(setting.key)) }

    /// Returns whether a toggle is on. An absent toggle is off.
    func isOn(_ setting: Setting) -> Bool { self.reader.bool(forKey: ConfigKey(setting.key), default: false) }

    /// Returns a whole number, or `nil` if the setting is absent or not allowed. For a number out of range, returns the
    /// nearest number in the range, and ``check()`` throws an error.
    func integer(_ setting: Setting) -> Int? {
        guard let number = self.reader.int(forKey: ConfigKey(setting.key)) else { return nil }
        switch setting.kind {
        case .integer(let range) where !range.contains(number):
            self.errors.add("\(setting.key): \(number) is not between \(range.lowerBound) and \(range.upperBound)")
            return min(max(number, range.lowerBound), range.upperBound)
        case .number(let numbers) where !numbers.contains(number):
            self.errors.add("\(setting.key): \(number) is none of \(numbers.map(String.init).joined(separator: ", "))")
            return nil
        default: return number
        }
    }

    /// Returns the value of a setting as a case of an enumeration, or the default if it is absent. For an unknown word,
    /// also returns the default, and ``check()`` throws an error.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ setting: Setting, default value: Choice) -> Choice {
        guard let text = self.string(setting) else { return value }
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        self.errors.add("\(setting.key): '\(text)' is none of \(known)")
        return value
    }

    /// Records an error, which ``check()`` throws, about a value or a combination of values.
    func reject(_ setting: Setting, _ message: String) { self.errors.add("\(setting.key): \(message)") }

    /// A Boolean value that indicates whether ``check()`` will throw an error for the values that were read so far.
    var hasErrors: Bool { !self.errors.all.isEmpty }

    /// Checks the values that were read so far.
    /// - Throws: ``SettingsError`` that names every value that could not be read.
    func check() throws {
        let errors = self.errors.all
        if !errors.isEmpty { throw SettingsError(errors.joined(separator: "\n"), status: .usage) }
    }
}

/// A collector of the errors in values of settings, including those that swift-configuration reports.
private final class SettingErrorCollector: AccessReporter {
    private let errors = Mutex<[String]>([])

    /// The errors so far, each with the key of the setting.
    var all: [String] { self.errors.withLock { $0 } }

    func add(_ error: String) { self.errors.withLock { $0.append(error) } }

    /// Adds an error about a value that is not of the requested type.
    func report(_ event: AccessEvent) {
        var failed = event.conversionError != nil
        for result in event.providerResults { if case .failure = result.result { failed = true } }
        if case .failure = event.result { failed = true }
        guard failed else { return }
        let key = "\(event.metadata.key)"
        self.add("\(key): this must be \(SettingNames.all.byKey[key]?.kind.form ?? "of another type")")
    }
}

/// The settings in environment variables whose names begin with `MARTLET_`.
struct SettingsEnvironment {
    /// The environment variables of the build, its scripts and packaging/compose.yml. They have the prefix of settings,
    /// but are not settings.
    private static let ofTheBuild: Set<String> = [
        "MARTLET_COMMIT", "MARTLET_IMAGE", "MARTLET_SHARED_BUILD", "MARTLET_VERSION",
    ]

    private(set) var values: [String: String] = [:]
    /// The errors, one for each variable that has the prefix and belongs to no setting.
    private(set) var errors: [String] = []
    private(set) var warnings: [String] = []

    init(_ variables: [String: String] = ProcessInfo.processInfo.environment, names: SettingNames = .all) {
        for (variable, value) in variables.sorted(by: { $0.key < $1.key }) {
            guard variable.hasPrefix(Setting.variablePrefix), !Self.ofTheBuild.contains(variable) else { continue }
            guard let setting = names.byVariable[variable] else {
                guard !Self.isServiceLink(variable, value) else { continue }
                let nearest = names.nearestVariable(to: variable).map { ": did you mean \($0)?" } ?? ""
                self.errors.append("there is no setting for the environment variable \(variable)\(nearest)")
                continue
            }
            let name = setting.environmentVariable
            if variable != name {
                self.warnings.append("the environment variable \(variable) is now \(name)")
                // If both variables are set, the present one wins.
                guard variables[name] == nil else { continue }
            }
            self.values[name] = value
        }
    }

    /// Returns whether Kubernetes or Docker has set a variable for a service whose name begins with `martlet`. Such a
    /// variable is not an error.
    private static func isServiceLink(_ variable: String, _ value: String) -> Bool {
        if variable.hasSuffix("_SERVICE_HOST") || variable.contains("_SERVICE_PORT") { return true }
        if variable.contains(#/_PORT_[0-9]+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?$/#) { return true }
        return variable.hasSuffix("_PORT") && value.contains("://")
    }
}
