/// A setting of the program. Its flag, its environment variable, its member in the settings file and its documentation
/// are all derived from this value, which is a row of ``SettingTable``.
struct Setting: Sendable {
    /// The type of a value and the values that are allowed.
    enum Kind: Sendable, Equatable {
        /// The kind of a setting whose value is any string.
        case text
        /// The kind of a setting whose value is a string that is never printed or logged.
        case secret
        /// The kind of a setting with several strings. The flag is repeated, commas separate them in the environment
        /// variable, and the file has an array.
        case list
        /// The kind of a setting whose value is a Boolean, which the flag sets to `true`.
        case toggle
        /// The kind of a setting whose value is a whole number within a range.
        case integer(ClosedRange<Int>)
        /// The kind of a setting whose value is one of several whole numbers.
        case number(among: [Int])
        /// The kind of a setting whose value is one of several words.
        case choice([String])

        /// The description of a value of this kind, for error messages.
        var form: String {
            switch self {
            case .text, .secret: "a text"
            case .list: "an array of texts"
            case .toggle: "true or false"
            case .integer, .number: "a whole number"
            case .choice(let words): "one of \(words.joined(separator: ", "))"
            }
        }
    }

    /// The kind of a setting for a port, where 0 means a free port.
    static let ports = Kind.integer(0...65_535)

    /// The path of the setting in the settings file, such as `serve.dispatch.page`.
    let key: String
    /// The name of the flag without its hyphens, or `nil` for a setting without a flag.
    let flag: String?
    let kind: Kind
    /// The default value as help and documentation show it, or `nil` if there is none.
    let defaultText: String?
    /// The sentence that describes the setting in `--help` and the documentation, without its full stop.
    private(set) var summary = ""
    /// Further sentences for the documentation, or `nil` if there are none.
    private(set) var discussion: String?
    /// The keys that the setting had in the previous version. They still work, with a warning.
    private(set) var formerKeys: [String] = []
    /// A Boolean value that indicates whether the values are never printed or logged.
    private(set) var isSecret: Bool
    /// The character between the elements of a list in an environment variable.
    private(set) var separator: Character = ","

    /// Creates a setting with a key in the settings file. `defaultText` is the default value as help shows it, or `nil`
    /// if there is none.
    init(_ key: String, flag: String? = nil, kind: Kind = .text, default defaultText: String? = nil) {
        (self.key, self.flag, self.kind) = (key, flag, kind)
        self.isSecret = kind == .secret
        self.defaultText = kind == .toggle ? "off" : defaultText
    }

    /// Creates a setting whose value is one of the raw values of an enumeration.
    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        flag: String,
        default value: Choice
    ) -> Setting {
        Setting(key, flag: flag, kind: .choice(Choice.allCases.map(\.rawValue)), default: value.rawValue)
    }

    func help(_ summary: String) -> Setting { changed(self) { $0.summary = summary } }

    func detail(_ sentence: String) -> Setting {
        changed(self) { $0.discussion = self.discussion.map { "\($0) \(sentence)" } ?? sentence }
    }

    func formerly(_ key: String) -> Setting { changed(self) { $0.formerKeys.append(key) } }

    func secret() -> Setting { changed(self) { $0.isSecret = true } }

    func separated(by separator: Character) -> Setting { changed(self) { $0.separator = separator } }

    static let variablePrefix = "MARTLET_"

    var environmentVariable: String { Self.environmentVariable(of: self.key) }

    /// Returns the environment variable of a key as swift-configuration derives it: with an underscore for each full
    /// stop, and between a lower-case and an upper-case letter.
    static func environmentVariable(of key: String) -> String {
        var name = Self.variablePrefix
        var previous: Character = "."
        for character in key {
            if previous.isLowercase && character.isUppercase { name += "_" }
            name += character == "." ? "_" : character.uppercased()
            previous = character
        }
        return name
    }

    /// The description of the allowed values, or `nil` if all values of the type are allowed.
    var range: String? {
        switch self.kind {
        case .text, .secret, .list, .toggle: nil
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .number(let numbers): numbers.map(String.init).joined(separator: " or ")
        case .choice(let words): words.joined(separator: ", ")
        }
    }

    /// The text for `--help`: the sentence, followed by the key, the range and the default.
    var argumentHelp: String {
        let range = self.kind == Self.ports ? nil : self.range
        let value = self.kind == .toggle ? nil : self.defaultText.map { "default: \($0)" }
        let facts = [range, value].compactMap { $0 }
        return "\(self.summary) (\(([self.key] + facts).joined(separator: "; ")))."
    }
}
