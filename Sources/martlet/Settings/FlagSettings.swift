import Configuration

/// Turns parsed flags into settings; an absent flag leaves the setting to the environment and the file.
extension Optional {
    func setting() -> ConfigValue? where Wrapped == String {
        self.map { ConfigValue(.string($0), isSecret: false) }
    }

    func setting() -> ConfigValue? where Wrapped == Int {
        self.map { ConfigValue(.int($0), isSecret: false) }
    }
}

extension [String] {
    /// `nil` when the flag was not given at all.
    func setting() -> ConfigValue? {
        self.isEmpty ? nil : ConfigValue(.stringArray(self), isSecret: false)
    }
}

extension Bool {
    /// `nil` when the flag was not given: then the setting may still be on.
    func setting() -> ConfigValue? {
        self ? ConfigValue(.bool(true), isSecret: false) : nil
    }
}
