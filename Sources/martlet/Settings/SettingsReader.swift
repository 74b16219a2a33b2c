import Configuration
import Foundation
import PushSupport
import Synchronization

/// The settings of one run: flags over environment (`MARTLET_…`) over a JSON file over defaults.
///
/// A command reads everything that it needs and then calls ``check()``. A value of the wrong type or out of its range
/// is an error that names its key, not a silent return to the default.
struct SettingsReader: Sendable {
    /// The file that is read when no other is named.
    static let defaultFile = "martlet.json"

    /// The reader of flags, environment and file, in this order.
    private let reader: ConfigReader
    /// The errors that `check()` throws.
    private let errors = SettingErrorCollector()

    /// The settings file that was read; `nil` for none.
    let file: String?

    /// Reads flags, environment and file. Former names are reported to standard error.
    /// - Parameters:
    ///   - flags: The values of flags by key.
    ///   - file: The settings file; `nil` for ``defaultFile``, if there is one.
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

    /// Returns the lists whose elements may have commas, which the provider of variables would split.
    private static func lists(in variables: [String: String]) -> [String: ConfigValue] {
        var lists: [String: ConfigValue] = [:]
        for setting in SettingNames.all.byKey.values where setting.kind == .list && setting.separator != "," {
            guard let text = variables[setting.environmentVariable] else { continue }
            let elements = text.split(separator: setting.separator).map { $0.trimmingCharacters(in: .whitespaces) }
            lists[setting.key] = ConfigValue(.stringArray(elements.filter { !$0.isEmpty }), isSecret: false)
        }
        return lists
    }

    /// Returns the text of a setting; `nil` where none is given.
    func string(_ setting: Setting) -> String? {
        self.reader.string(forKey: ConfigKey(setting.key), isSecret: setting.kind == .secret)
    }

    /// Returns the text of a setting, or the default of the table.
    func text(_ setting: Setting) -> String { self.string(setting) ?? setting.defaultText ?? "" }

    /// Returns the texts of a list; `nil` where none is given.
    func strings(_ setting: Setting) -> [String]? { self.reader.stringArray(forKey: ConfigKey(setting.key)) }

    /// Returns whether a switch is on; off when it is absent.
    func isOn(_ setting: Setting) -> Bool { self.reader.bool(forKey: ConfigKey(setting.key), default: false) }

    /// Returns a whole number, `nil` where none is given or allowed. A number out of its range is an error of
    /// ``check()``, and the nearest one in the range until then.
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

    /// Returns one of the raw values of an enumeration. Another word is an error of ``check()``.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ setting: Setting, default value: Choice) -> Choice {
        guard let text = self.string(setting) else { return value }
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        self.errors.add("\(setting.key): '\(text)' is none of \(known)")
        return value
    }

    /// Notes an error of ``check()`` in a value that follows from the given ones.
    func reject(_ setting: Setting, _ message: String) { self.errors.add("\(setting.key): \(message)") }

    /// Indicates whether ``check()`` will throw for the values that were read so far.
    var hasErrors: Bool { !self.errors.all.isEmpty }

    /// - Throws: ``SettingsError`` that names every value that could not be read.
    func check() throws {
        let errors = self.errors.all
        if !errors.isEmpty { throw SettingsError(errors.joined(separator: "\n"), status: .usage) }
    }
}

/// Collects the values that could not be read while settings are looked up.
final class SettingErrorCollector: AccessReporter {
    private let errors = Mutex<[String]>([])

    /// The errors so far, each with the key of its setting.
    var all: [String] { self.errors.withLock { $0 } }

    /// Adds the error of a value that was read but is not allowed.
    func add(_ error: String) { self.errors.withLock { $0.append(error) } }

    /// Notes a value that a provider has, but that is not of the type that was asked for.
    func report(_ event: AccessEvent) {
        var failed = event.conversionError != nil
        for result in event.providerResults { if case .failure = result.result { failed = true } }
        if case .failure = event.result { failed = true }
        guard failed else { return }
        let key = "\(event.metadata.key)"
        self.add("\(key): this must be \(SettingNames.all.byKey[key]?.kind.form ?? "of another type")")
    }
}
