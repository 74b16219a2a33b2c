import PushSupport

/// A configuration type that settings are applied to.
protocol SettingTarget: SendableMetatype {
    /// A configuration in which nothing was set; the table reads its defaults from it.
    static var defaults: Self { get }
}

/// A setting together with the part of a configuration that it sets.
struct SettingRow<Target: SettingTarget>: Sendable {
    /// The row of the table.
    let setting: Setting
    /// Copies the value, if one was given, to the configuration.
    let apply: @Sendable (Settings, inout Target) -> Void

    /// - Parameter apply: copies the value; by default it does nothing, and the command reads the setting by itself.
    init(_ setting: Setting, apply: @escaping @Sendable (Settings, inout Target) -> Void = { _, _ in }) {
        self.setting = setting
        self.apply = apply
    }
}

extension SettingRow {
    /// Returns the row with the sentence for `--help`, which has no full stop.
    func help(_ summary: String) -> Self { Self(self.setting.help(summary), apply: self.apply) }

    /// Returns the row with further sentences for the documentation.
    func detail(_ discussion: String) -> Self { Self(self.setting.detail(discussion), apply: self.apply) }

    /// A path from a configuration to one of its values.
    typealias Path<Value> = any WritableKeyPath<Target, Value> & Sendable

    /// A row for a text with a default.
    static func text(_ key: String, flag: String, _ path: Path<String>) -> Self {
        /// The row of the table.
        let setting = Setting(key, flag: flag, default: Target.defaults[keyPath: path])
        return Self(setting) { $1[keyPath: path] = $0.text(setting) }
    }

    /// A row for a text that may be absent.
    static func text(_ key: String, flag: String, _ path: Path<String?>) -> Self {
        /// The row of the table.
        let setting = Setting(key, flag: flag, default: Target.defaults[keyPath: path])
        return Self(setting) { $1[keyPath: path] = $0.string(setting) }
    }

    /// A row for a switch that is off by default.
    static func toggle(_ key: String, flag: String, _ path: Path<Bool>) -> Self {
        /// The row of the table.
        let setting = Setting(key, flag: flag, kind: .toggle)
        return Self(setting) { $1[keyPath: path] = $0.isOn(setting) }
    }

    /// A row for a whole number.
    static func integer(_ key: String, flag: String, _ range: ClosedRange<Int>, _ path: Path<Int>) -> Self {
        self.number(key, flag, range, default: Target.defaults[keyPath: path]) { $0[keyPath: path] = $1 }
    }

    /// A row for a share that is given in percent, from 1 to 100.
    static func percent(_ key: String, flag: String, _ path: Path<Double>) -> Self {
        let value = Int((Target.defaults[keyPath: path] * 100).rounded())
        return self.number(key, flag, 1...100, default: value) { $0[keyPath: path] = Double($1) / 100 }
    }

    /// A row for a time that is given as a whole number of units.
    /// - Parameter unit: the length of a unit in seconds, such as 86,400 for days.
    static func time(
        _ key: String,
        flag: String,
        _ range: ClosedRange<Int>,
        unit: Int = 1,
        _ path: Path<Duration>
    ) -> Self {
        let value = Int(Target.defaults[keyPath: path].components.seconds) / unit
        return self.number(key, flag, range, default: value) { $0[keyPath: path] = .seconds($1 * unit) }
    }

    /// A row for a whole number that a closure copies to the configuration.
    private static func number(
        _ key: String,
        _ flag: String,
        _ range: ClosedRange<Int>,
        default value: Int,
        set: @escaping @Sendable (inout Target, Int) -> Void
    ) -> Self {
        /// The row of the table.
        let setting = Setting(key, flag: flag, kind: .integer(range), default: "\(value)")
        return Self(setting) { settings, target in
            if let number = settings.integer(setting) { set(&target, number) }
        }
    }
}
