import PushSupport
import WebPages

/// Creates the fields of a form from its localized labels and hints. The label of the field `title` is the localized
/// text `AREA.title`, its hint is `AREA.titleHint`, and the label of an option is `AREA.titleOptions.VALUE`.
struct LabelledFields {
    let texts: LocalizedTexts
    let area: String
    let values: [String: String]
    let problems: [String: String]

    /// Returns a field with a single-line input.
    /// - Parameters:
    ///   - text: The name of the localized texts.
    ///   - type: The type of the HTML input, such as `number`.
    ///   - member: The schema of the API member that the field represents, or `nil` if it represents no single member.
    ///   - name: The name of the field, or `nil` if it equals the name of its localized texts.
    ///   - list: The id of a list of suggestions, or `nil` for a field without suggestions.
    func line(
        _ text: String,
        of member: Schema? = nil,
        name: String? = nil,
        type: String = "text",
        list: String? = nil
    ) -> PageModel {
        self.model(text, of: member ?? .string(length: 0...4096), name: name, .line(type: type, list: list))
    }

    func area(_ text: String, name: String? = nil, isCode: Bool = false) -> PageModel {
        self.model(text, name: name, isCode ? .code : .area)
    }

    /// Returns a drop-down list. An option without a localized text is also its label.
    /// - Parameters:
    ///   - text: The name of the localized texts.
    ///   - name: The name of the field, or `nil` if it equals `text`.
    func select(_ text: String, _ options: [String], name: String? = nil) -> PageModel {
        self.model(text, name: name, .choice(self.options(text, name: name ?? text, options)))
    }

    func radio(_ text: String, _ options: [String]) -> PageModel {
        self.model(text, .radio(self.options(text, name: text, options)))
    }

    func check(_ text: String) -> PageModel { self.model(text, .check) }

    /// Returns a group of checkboxes. Its value is one string with the checked options, separated by spaces.
    func checks(_ text: String, _ options: [String]) -> PageModel {
        let chosen = (self.values[text] ?? "").split(separator: " ").map(String.init)
        return self.model(text, .checks(options.map { ($0, self.label(text, $0)) }), values: chosen)
    }

    /// Returns the options of a field with their labels. The current value is appended if it is not among them.
    private func options(_ text: String, name: String, _ options: [String]) -> [(value: String, label: String)] {
        let value = self.values[name] ?? ""
        let all = options.contains(value) || value.isEmpty ? options : options + [value]
        return all.map { ($0, self.label(text, $0)) }
    }

    private func label(_ text: String, _ option: String) -> String {
        self.texts.text("\(self.area).\(text)Options.\(option.isEmpty ? "none" : option)") ?? option
    }

    private func model(
        _ text: String,
        of member: Schema? = nil,
        name: String? = nil,
        _ control: FormField.Control,
        values: [String]? = nil
    ) -> PageModel {
        let name = name ?? text
        var field = FormField(
            name,
            self.texts["\(self.area).\(text)"],
            control,
            values: values ?? [self.values[name] ?? ""],
            hint: self.texts.text("\(self.area).\(text)Hint")
        )
        if let member { field.limit(to: member) }
        return field.model(form: "field", problem: self.problems[name], language: "en")
    }
}
