/// A setting, as one row of the table from which the flags, the environment variables, the members of the settings file
/// and the documentation of all settings come.
struct Setting: Sendable {
    /// The type of a value and the values that are allowed.
    enum Kind: Sendable, Equatable {
        /// Any text.
        case text
        /// A text that is left out of access reports.
        case secret
        /// Several texts: a flag is repeated, an environment variable has commas, the file has an array.
        case list
        /// On or off; the flag turns it on.
        case toggle
        /// A whole number in a range.
        case integer(ClosedRange<Int>)
        /// One of a few whole numbers.
        case number(among: [Int])
        /// One of a few words.
        case choice([String])
    }

    /// The numbers that a port can be; 0 takes a free one.
    static let ports = Kind.integer(0...65_535)

    /// The path in the settings file, such as `serve.dispatch.page`.
    let key: String
    /// The name of the flag without its hyphens; `nil` for a setting without a flag.
    let flag: String?
    /// The type of the value and its range.
    let kind: Kind
    /// The default in words, read from the configuration types where they have it; `nil` where there is none.
    let defaultText: String?
    /// One sentence without its full stop, for `--help` and the table.
    private(set) var summary = ""
    /// Further sentences, for the table in the documentation.
    private(set) var discussion: String?

    /// - Parameter defaultText: The default as people read it; `nil` where the setting has none.
    init(_ key: String, flag: String? = nil, kind: Kind = .text, default defaultText: String? = nil) {
        (self.key, self.flag, self.kind) = (key, flag, kind)
        self.defaultText = kind == .toggle ? "off" : defaultText
    }

    /// Makes a setting that is one of the raw values of an enumeration.
    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        flag: String,
        default value: Choice
    ) -> Setting {
        Setting(key, flag: flag, kind: .choice(Choice.allCases.map(\.rawValue)), default: value.rawValue)
    }

    /// Returns the setting with its sentence for `--help`, which has no full stop.
    func help(_ summary: String) -> Setting { changed(self) { $0.summary = summary } }

    /// Returns the setting with a further sentence for the documentation.
    func detail(_ sentence: String) -> Setting {
        changed(self) { $0.discussion = self.discussion.map { "\($0) \(sentence)" } ?? sentence }
    }

    /// The environment variable, such as `MARTLET_SERVE_DISPATCH_PAGE`, as swift-configuration derives it from the key:
    /// an underscore for each full stop, and between a lower-case letter and an upper-case one.
    var environmentVariable: String {
        var name = "MARTLET_"
        var previous: Character = "."
        for character in self.key {
            if previous.isLowercase && character.isUppercase { name += "_" }
            name += character == "." ? "_" : character.uppercased()
            previous = character
        }
        return name
    }

    /// The allowed values in words; `nil` where any are.
    var range: String? {
        switch self.kind {
        case .text, .secret, .list, .toggle: nil
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .number(let numbers): numbers.map(String.init).joined(separator: " or ")
        case .choice(let words): words.joined(separator: ", ")
        }
    }

    /// The text that `--help` shows: the sentence with key, range and default.
    var argumentHelp: String {
        let range = self.kind == Self.ports ? nil : self.range
        let value = self.kind == .toggle ? nil : self.defaultText.map { "default: \($0)" }
        let facts = [range, value].compactMap { $0 }
        return "\(self.summary) (\(([self.key] + facts).joined(separator: "; ")))."
    }
}
