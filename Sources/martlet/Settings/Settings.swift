import Configuration
import Foundation
import Logging
import PushSupport

/// The settings of one run: flags over environment (`MARTLET_…`) over a JSON file over defaults.
///
/// Read everything, then call ``check()``: a value of the wrong kind is an error that names its key, not a silent
/// fall-back to the default.
struct Settings: Sendable {
    static let defaultFile = "martlet.json"

    private let reader: ConfigReader
    private let faults = SettingFaults()

    init(flags: [String: ConfigValue?], file: String?) async throws {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for case (let key, let value?) in flags {
            values[AbsoluteConfigKey(key.split(separator: ".").map(String.init))] = value
        }
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "flags", values: values),
            EnvironmentVariablesProvider().prefixKeys(with: "martlet"),
        ]
        if let path = file ?? (FileManager.default.fileExists(atPath: Self.defaultFile) ? Self.defaultFile : nil) {
            do {
                let location = ConfigReader(
                    provider: InMemoryProvider(values: ["filePath": .init(stringLiteral: path)])
                )
                providers.append(try await FileProvider<JSONSnapshot>(config: location))
            } catch {
                throw SettingsError("the settings in \(path) cannot be read: \(ErrorDescription.of(error))")
            }
        }
        self.reader = ConfigReader(providers: providers, accessReporter: self.faults)
    }

    func string(_ key: String) -> String? { self.reader.string(forKey: ConfigKey(key)) }
    func string(_ key: String, default value: String) -> String { self.string(key) ?? value }
    func strings(_ key: String) -> [String]? { self.reader.stringArray(forKey: ConfigKey(key)) }
    func secret(_ key: String) -> String? { self.reader.string(forKey: ConfigKey(key), isSecret: true) }

    /// Whether the setting is on; off when it is absent.
    func flag(_ key: String) -> Bool { self.reader.bool(forKey: ConfigKey(key), default: false) }

    /// A TCP port: 0 to 65,535, where 0 means any free one.
    func port(_ key: String, default value: Int) -> Int {
        let port = self.reader.int(forKey: ConfigKey(key), default: value)
        if !(0...65_535).contains(port) { self.faults.add("\(key): \(port) is no port, use 0 to 65535") }
        return port
    }

    /// A whole number, the nearest one in the range; `nil` where there is none.
    func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let number = self.reader.int(forKey: ConfigKey(key)) else { return nil }
        if !range.contains(number) {
            self.faults.add("\(key): \(number) is not between \(range.lowerBound) and \(range.upperBound)")
        }
        return min(max(number, range.lowerBound), range.upperBound)
    }

    /// One of these whole numbers; `nil` where there is none.
    func integer(_ key: String, among values: [Int]) -> Int? {
        guard let number = self.reader.int(forKey: ConfigKey(key)) else { return nil }
        if values.contains(number) { return number }
        self.faults.add("\(key): \(number) is none of \(values.map(String.init).joined(separator: ", "))")
        return nil
    }

    /// One of the raw values of an enumeration.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ key: String, default value: Choice) -> Choice {
        guard let text = self.string(key) else { return value }
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        self.faults.add("\(key): '\(text)' is none of \(known)")
        return value
    }

    /// - Throws: ``SettingsError`` that names every value that could not be read.
    func check() throws {
        let faults = self.faults.all
        if !faults.isEmpty { throw SettingsError(faults.joined(separator: "\n")) }
    }
}

/// Settings that cannot be used, with what is wrong with each.
struct SettingsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
