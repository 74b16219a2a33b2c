import Configuration
import Foundation
import PushSupport

/// The settings that a JSON file contains.
struct SettingsFile {
    /// The maximum size of the file in bytes. A larger one is rejected.
    private static let maximumSize = 1 << 20

    private let path: String
    private let names: SettingNames
    private(set) var values: [String: ConfigValue] = [:]
    /// The errors, one for each unknown key and each value of a wrong type.
    private(set) var errors: [String] = []
    private(set) var warnings: [String] = []

    /// Parses a settings file.
    /// - Throws: ``SettingsError`` for a file that cannot be read or is not a JSON object.
    init(path: String, names: SettingNames = .all) throws {
        (self.path, self.names) = (path, names)
        do {
            let content = try InputFile.data(path, maximum: Self.maximumSize)
            self.read(try InputFile.object(content, named: path), of: [])
        } catch {
            throw SettingsError("settings: \(error)", status: .usage)
        }
    }

    /// Reads the members of an object in the file.
    /// - Parameter group: The names of the members that lead to the object. The array is empty for the outermost one.
    private mutating func read(_ members: [String: JSONValue], of group: [String]) {
        for (name, value) in members.sorted(by: { $0.key < $1.key }) where value != .null {
            let parts = group + [name]
            let key = parts.joined(separator: ".")
            if let setting = self.names.byKey[key], !name.contains(".") {
                self.add(value, key, setting)
            } else if self.names.groups.contains(key), !name.contains(".") {
                guard case .object(let members) = value else {
                    self.reject("\(key) is a group of settings: its value must be an object")
                    continue
                }
                self.read(members, of: parts)
            } else {
                self.rejectUnknown(key, name, value)
            }
        }
    }

    private mutating func add(_ value: JSONValue, _ key: String, _ setting: Setting) {
        guard let content = Self.content(value) else {
            self.reject("\(key): this must be \(setting.kind.form)")
            return
        }
        if key != setting.key {
            self.warnings.append("\(self.path): \(key) is now \(setting.key)")
            // If both keys are set, the present one wins.
            guard self.values[setting.key] == nil else { return }
        }
        self.values[setting.key] = ConfigValue(content, isSecret: setting.kind == .secret)
    }

    /// Converts a value to the type of swift-configuration. Returns `nil` for null, an object, or an array with
    /// non-string elements.
    private static func content(_ value: JSONValue) -> ConfigContent? {
        switch value {
        case .string(let text): return .string(text)
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .int(Int(number))
        case .number(let number): return .double(number)
        case .array(let elements):
            let texts = elements.compactMap(\.stringValue)
            return texts.count == elements.count ? .stringArray(texts) : nil
        case .object, .null: return nil
        }
    }

    private mutating func reject(_ text: String) { self.errors.append("\(self.path): \(text)") }

    private mutating func rejectUnknown(_ key: String, _ name: String, _ value: JSONValue) {
        if name.contains("."), self.names.byKey[key] != nil {
            let nested = key.split(separator: ".").map { "{\"\($0)\":" }.joined()
            self.reject("\(key) is written as nested objects: \(nested)…")
        } else {
            let isGroup = if case .object = value { true } else { false }
            let nearest = self.names.nearestKey(to: key, isGroup: isGroup).map { ": did you mean \($0)?" } ?? ""
            self.reject("there is no setting \(key.printable)\(nearest)")
        }
    }
}
