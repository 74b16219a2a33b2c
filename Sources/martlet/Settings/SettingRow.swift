/// A configuration type to which settings are applied.
protocol SettingTarget: SendableMetatype {
    /// The configuration before any setting is applied, from which the table reads the default values.
    static var defaults: Self { get }
}

/// A setting together with the value of a configuration that it sets.
struct SettingRow<Target: SettingTarget>: Sendable {
    let setting: Setting
    /// The closure that copies the value to the configuration, if a value is given.
    let apply: @Sendable (SettingsReader, inout Target) -> Void

    /// Creates a row. `apply` copies the value to the configuration. By default, it does nothing, because the command
    /// reads the setting.
    init(_ setting: Setting, apply: @escaping @Sendable (SettingsReader, inout Target) -> Void = { _, _ in }) {
        (self.setting, self.apply) = (setting, apply)
    }
}

extension SettingRow {
    func help(_ summary: String) -> Self { Self(self.setting.help(summary), apply: self.apply) }

    func detail(_ discussion: String) -> Self { Self(self.setting.detail(discussion), apply: self.apply) }

    func separated(by separator: Character) -> Self { Self(self.setting.separated(by: separator), apply: self.apply) }

    /// A path from a configuration to one of its values.
    typealias Path<Value> = any WritableKeyPath<Target, Value> & Sendable

    /// Creates a row for a string, which is copied to the value at `path`. The default is that of the configuration.
    static func text(_ key: String, flag: String, _ path: Path<String>) -> Self {
        let setting = Setting(key, flag: flag, default: Target.defaults[keyPath: path])
        return Self(setting) { $1[keyPath: path] = $0.text(setting) }
    }

    /// Creates a row for a string that may be absent, which is copied to the value at `path`, or `nil` if it is absent.
    static func text(_ key: String, flag: String, _ path: Path<String?>) -> Self {
        let setting = Setting(key, flag: flag, default: Target.defaults[keyPath: path])
        return Self(setting) { $1[keyPath: path] = $0.string(setting) }
    }

    /// Creates a row for a list of strings, which is copied to the value at `path`.
    static func list(_ key: String, flag: String, _ path: Path<[String]>) -> Self {
        let texts = Target.defaults[keyPath: path]
        let text = texts.isEmpty ? nil : texts.joined(separator: ", ")
        let setting = Setting(key, flag: flag, kind: .list, default: text)
        return Self(setting) { $1[keyPath: path] = $0.strings(setting) ?? texts }
    }

    /// Creates a row for one of the raw values of an enumeration. The case is copied to the value at `path`.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ key: String,
        flag: String,
        _ path: Path<Choice>
    ) -> Self {
        let setting = Setting.choice(key, flag: flag, default: Target.defaults[keyPath: path])
        return Self(setting) { $1[keyPath: path] = $0.choice(setting, default: $1[keyPath: path]) }
    }

    /// Creates a row for a toggle that is off by default, and is copied to the value at `path`.
    static func toggle(_ key: String, flag: String, _ path: Path<Bool>) -> Self {
        let setting = Setting(key, flag: flag, kind: .toggle)
        return Self(setting) { $1[keyPath: path] = $0.isOn(setting) }
    }

    /// Creates a row for a whole number within a range, which is copied to the value at `path`.
    static func integer(_ key: String, flag: String, _ range: ClosedRange<Int>, _ path: Path<Int>) -> Self {
        self.number(key, flag, .integer(range), default: Target.defaults[keyPath: path]) { $0[keyPath: path] = $1 }
    }

    /// Creates a row for one of several whole numbers, which is copied to the value at `path`.
    static func integer(_ key: String, flag: String, among numbers: [Int], _ path: Path<Int>) -> Self {
        let value = Target.defaults[keyPath: path]
        return self.number(key, flag, .number(among: numbers), default: value) { $0[keyPath: path] = $1 }
    }

    /// Creates a row for a port, which is copied to the value at `path`.
    /// - Parameter text: The default as help shows it, or `nil` for the port in the default configuration.
    static func port(_ key: String, flag: String, _ path: Path<Int>, default text: String? = nil) -> Self {
        let text = text ?? "\(Target.defaults[keyPath: path])"
        let setting = Setting(key, flag: flag, kind: Setting.ports, default: text)
        return Self(setting) { if let port = $0.integer(setting) { $1[keyPath: path] = port } }
    }

    /// Creates a row for a fraction that is given as a percentage from 1 to 100, and is copied to the value at `path`.
    static func percent(_ key: String, flag: String, _ path: Path<Double>) -> Self {
        let value = Int((Target.defaults[keyPath: path] * 100).rounded())
        return self.number(key, flag, .integer(1...100), default: value) { $0[keyPath: path] = Double($1) / 100 }
    }

    /// Creates a row for a duration that is given as a whole number of units, and is copied to the value at `path`.
    /// - Parameter unit: The length of a unit in seconds, such as 86,400 for days.
    static func time(
        _ key: String,
        flag: String,
        _ range: ClosedRange<Int>,
        unit: Int = 1,
        _ path: Path<Duration>
    ) -> Self {
        let value = Int(Target.defaults[keyPath: path].components.seconds) / unit
        return self.number(key, flag, .integer(range), default: value) { $0[keyPath: path] = .seconds($1 * unit) }
    }

    /// Creates a row for a whole number that the closure `set` copies to the configuration.
    private static func number(
        _ key: String,
        _ flag: String,
        _ kind: Setting.Kind,
        default value: Int,
        set: @escaping @Sendable (inout Target, Int) -> Void
    ) -> Self {
        let setting = Setting(key, flag: flag, kind: kind, default: "\(value)")
        return Self(setting) { if let number = $0.integer(setting) { set(&$1, number) } }
    }
}
