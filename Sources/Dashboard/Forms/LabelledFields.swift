import PushSupport
import WebPages

/// The fields of a form whose labels are in the texts.
///
/// The label of the field `title` is the text `AREA.title`, its hint `AREA.titleHint`, the label of an option `AREA.titleOptions.VALUE`.
struct LabelledFields {
    let texts: LocalizedTexts
    /// The object of the texts.
    let area: String
    let values: [String: String]
    /// The messages of the API by the name of the field.
    let problems: [String: String]

    /// Returns a field of one line.
    ///
    /// - Parameters:
    ///   - type: The type of the input, such as `number`.
    ///   - name: The name of the field in the form, where it is not that of its texts.
    ///   - list: The id of a list of suggestions.
    func line(_ text: String, name: String? = nil, type: String = "text", list: String? = nil, maximum: Int = 4096)
        -> PageModel
    {
        self.model(text, name: name, .line(type: type, list: list), maximum: maximum)
    }

    func area(_ text: String, name: String? = nil, isCode: Bool = false) -> PageModel {
        self.model(text, name: name, isCode ? .code : .area)
    }

    /// Returns a list of which one value is chosen. An option without a text is shown as it is.
    func select(_ text: String, _ options: [String], name: String? = nil) -> PageModel {
        self.model(text, name: name, .choice(self.options(text, name: name ?? text, options)))
    }

    /// Returns a group of buttons of which one is chosen.
    func radio(_ text: String, _ options: [String]) -> PageModel {
        self.model(text, .radio(self.options(text, name: text, options)))
    }

    /// Returns a box that is ticked or not. Its value is `yes`.
    func check(_ text: String) -> PageModel { self.model(text, .check) }

    /// Returns boxes of which any may be ticked. The values are in one text, with spaces.
    func checks(_ text: String, _ options: [String]) -> PageModel {
        let chosen = (self.values[text] ?? "").split(separator: " ").map(String.init)
        return self.model(text, .checks(options.map { ($0, self.label(text, $0)) }), values: chosen)
    }

    /// Returns the options, and the value even if it is none of them.
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
        name: String? = nil,
        _ control: FormField.Control,
        values: [String]? = nil,
        maximum: Int? = nil
    ) -> PageModel {
        let name = name ?? text
        return FormField(
            name,
            self.texts["\(self.area).\(text)"],
            control,
            values: values ?? [self.values[name] ?? ""],
            hint: self.texts.text("\(self.area).\(text)Hint"),
            maximum: maximum
        )
        .model(form: "field", problem: self.problems[name], language: "en")
    }
}
