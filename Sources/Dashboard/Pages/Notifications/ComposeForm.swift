import Foundation
import PushHTTP
import PushSupport

/// The form of a notification, of a schedule or of a template, exactly as it was typed.
struct ComposeForm: Sendable {
    /// The texts of one language.
    struct Language: Sendable, Equatable {
        var locale = ""
        var title = ""
        var subtitle = ""
        var body = ""

        var isEmpty: Bool { self.locale.isEmpty && self.title.isEmpty && self.subtitle.isEmpty && self.body.isEmpty }
    }

    /// The most languages of a notification.
    static let maximumLanguages = 100

    var values: [String: String] = [:]
    var languages: [Language] = []

    static let content = [
        "title", "subtitle", "body", "badge", "sound", "image", "pushType", "interruptionLevel", "threadId", "category",
        "collapseId", "expiresIn", "priority", "data", "variables", "more",
    ]
    static let sending = [
        "name", "environment", "audience", "tag", "user", "named", "expression", "locale", "when", "at", "zone", "past",
        "windowFrom", "windowTo", "days", "quietFrom", "quietTo", "pace", "rate", "waveSize", "waveSeconds",
        "consentCategory", "ignoreQuiet", "atMostOnce",
    ]
    static let recurrence = ["frequency", "time", "weekday", "monthday", "cron"]
    static let preview = ["previewDevice", "previewUser", "previewLocale"]
    private static let names = Self.content + Self.sending + Self.recurrence + Self.preview

    init() {}

    /// Reads the posted form.
    init(_ form: FormData) {
        for name in Self.names {
            let values = form.values(name).map(Self.normalized)
            self.values[name] = name == "days" ? values.joined(separator: " ") : values.first ?? ""
        }
        for index in 0..<Self.maximumLanguages {
            guard let locale = form["language\(index)"] else { break }
            self.languages.append(
                Language(
                    locale: Self.normalized(locale).trimmingCharacters(in: .whitespaces),
                    title: Self.normalized(form["title\(index)"] ?? ""),
                    subtitle: Self.normalized(form["subtitle\(index)"] ?? ""),
                    body: Self.normalized(form["body\(index)"] ?? "")
                )
            )
        }
    }

    /// The value of a field; empty where nothing was typed.
    subscript(name: String) -> String {
        get { self.values[name] ?? "" }
        set { self.values[name] = newValue }
    }

    /// Returns the trimmed value of a field; `nil` for an empty one.
    func given(_ name: String) -> String? {
        let text = self[name].trimmingCharacters(in: .whitespaces)
        return text.isEmpty ? nil : text
    }

    /// Adds or removes a language, if that is what the pressed button asks for.
    ///
    /// - Returns: `true` if it was.
    mutating func change(by action: String) -> Bool {
        if action == "add-language" {
            if self.languages.count < Self.maximumLanguages { self.languages.append(Language()) }
            return true
        }
        let prefix = "remove-language-"
        guard action.hasPrefix(prefix) else { return false }
        if let index = Int(action.dropFirst(prefix.count)), self.languages.indices.contains(index) {
            self.languages.remove(at: index)
        }
        return true
    }

    /// The members of a preview that name the device that it is for.
    var previewSubject: [String: JSONValue] {
        if let device = self.given("previewDevice") { return ["device": .string(device)] }
        if let user = self.given("previewUser") { return ["user": .string(user)] }
        guard let locale = self.given("previewLocale") else { return [:] }
        return ["subject": .object(["locale": .string(locale)])]
    }

    /// All fields with their names, to be carried through a page that asks.
    var hidden: [(name: String, value: String)] {
        var fields = Self.names.flatMap { name -> [(String, String)] in
            name == "days"
                ? self[name].split(separator: " ").map { (name, String($0)) } : [(name, self[name])]
        }
        for (index, language) in self.languages.enumerated() {
            fields += [
                ("language\(index)", language.locale), ("title\(index)", language.title),
                ("subtitle\(index)", language.subtitle), ("body\(index)", language.body),
            ]
        }
        return fields.filter { !$0.1.isEmpty || $0.0.hasPrefix("language") }.map { (name: $0.0, value: $0.1) }
    }

    // Browsers send line ends as CR LF.
    private static func normalized(_ text: String) -> String { text.replacingOccurrences(of: "\r\n", with: "\n") }
}
