import Foundation
import PushHTTP
import PushSupport
import WebPages

/// A field of a form, with its label, value and hint. The template partial `control` shows it.
struct FormField {
    /// The HTML control of a field.
    enum Control {
        /// A line of text. `type` is the type of the HTML input, such as `password`, and `list` is the id of a list of
        /// suggestions.
        case line(type: String, list: String? = nil)
        case area
        /// Text of several lines that a program reads, such as JSON.
        case code
        case file(accept: String)
        /// One of several values, each with its label, as a list to choose from.
        case choice([(value: String, label: String)])
        /// One of several values, as a group of radio buttons.
        case radio([(value: String, label: String)])
        /// Any number of several values, as a group of boxes.
        case checks([(value: String, label: String)])
        /// A box that is ticked or not. Its value is `yes`.
        case check
    }

    let name: String
    let label: String
    var control = Control.line(type: "text")
    /// The value of the field. A field with ``Control/checks(_:)`` has all values that are chosen.
    var values: [String] = []
    var hint: String?
    var isRequired = false
    /// The maximum number of characters that can be typed.
    var maximum: Int?
    /// The value of the HTML attribute `autocomplete`.
    var completion = "off"

    init(
        _ name: String,
        _ label: String,
        _ control: Control = .line(type: "text"),
        value: String? = nil,
        values: [String] = [],
        hint: String? = nil,
        isRequired: Bool = false,
        maximum: Int? = nil,
        completion: String = "off"
    ) {
        (self.name, self.label, self.control) = (name, label, control)
        (self.hint, self.isRequired, self.maximum) = (hint, isRequired, maximum)
        (self.values, self.completion) = (value.map { [$0] } ?? values, completion)
    }

    /// Returns the variables of the partial `control`. Each has a value, because a template looks up a missing variable
    /// in the variables of the page.
    ///
    /// - Parameters:
    ///   - form: The name of the form, which makes ids unique in the page.
    ///   - problem: The error message for this field; `nil` without one.
    ///   - language: The language of the message; `nil` for that of the page.
    func model(form: String, problem: String?, language: String? = nil) -> PageModel {
        let id = "\(form)-\(self.name)"
        let described = [problem == nil ? nil : "\(id)-problem", self.hint == nil ? nil : "\(id)-hint"]
        let ids = described.compactMap(\.self).joined(separator: " ")
        var model: PageModel = [
            "name": self.name, "label": self.label, "value": self.values.first ?? "", "id": id,
            "hint": self.hint ?? false, "problem": problem ?? false, "problemLanguage": language ?? false,
            "described": ids.isEmpty ? false : ids, "isRequired": self.isRequired,
            "maximum": self.maximum.map { "\($0)" } ?? false, "completion": self.completion,
            "line": false, "area": false, "file": false, "choice": false, "group": false, "check": false,
        ]
        switch self.control {
        case .line(let type, let list): model["line"] = ["type": type, "list": list ?? false] as PageModel
        case .area: model["area"] = ["isCode": false]
        case .code: model["area"] = ["isCode": true]
        case .file(let accept): model["file"] = ["accept": accept]
        case .choice(let options): model["choice"] = ["options": self.options(options)]
        case .radio(let options): model["group"] = ["type": "radio", "options": self.options(options)] as PageModel
        case .checks(let options): model["group"] = ["type": "checkbox", "options": self.options(options)] as PageModel
        case .check: model["check"] = ["chosen": self.values == ["yes"]]
        }
        return model
    }

    private func options(_ options: [(value: String, label: String)]) -> [PageModel] {
        options.map { ["value": $0.value, "label": $0.label, "chosen": self.values.contains($0.value)] }
    }
}

/// The fields of a form with their values and error messages, as templates show them.
struct FormModel {
    /// Returns the variables of the partial `control` for each field.
    ///
    /// - Parameters:
    ///   - name: The name of the form, which makes ids unique in the page.
    ///   - names: The names of fields by the paths of the API, where the two differ.
    static func fields(
        _ name: String,
        _ fields: [FormField],
        error: RequestError? = nil,
        names: [String: String] = [:]
    ) -> [PageModel] {
        let problems = FieldErrors.model(error, names: names)
        let language = error.flatMap(PageError.language)
        return fields.map { $0.model(form: name, problem: problems[$0.name] as? String, language: language) }
    }
}

/// Makes the fields of a form whose labels and hints are in the localized texts.
///
/// The label of the field `title` is the text `AREA.title`, its hint `AREA.titleHint`, the label of an option `AREA.titleOptions.VALUE`.
struct LabelledFields {
    let texts: LocalizedTexts
    /// The object of the texts that has the labels and hints.
    let area: String
    let values: [String: String]
    /// The error messages of the API, by the name of the field.
    let problems: [String: String]

    /// Returns a field of one line.
    ///
    /// - Parameters:
    ///   - type: The type of the input, such as `number`.
    ///   - name: The name of the field, if it differs from the name of its texts.
    ///   - list: The id of a list of suggestions; `nil` for none.
    func line(_ text: String, name: String? = nil, type: String = "text", list: String? = nil, maximum: Int = 4096)
        -> PageModel
    {
        self.model(text, name: name, .line(type: type, list: list), maximum: maximum)
    }

    func area(_ text: String, name: String? = nil, isCode: Bool = false) -> PageModel {
        self.model(text, name: name, isCode ? .code : .area)
    }

    /// Returns a list from which one value is chosen. An option without a localized text is its own label.
    func select(_ text: String, _ options: [String], name: String? = nil) -> PageModel {
        self.model(text, name: name, .choice(self.options(text, name: name ?? text, options)))
    }

    /// Returns a group of radio buttons.
    func radio(_ text: String, _ options: [String]) -> PageModel {
        self.model(text, .radio(self.options(text, name: text, options)))
    }

    /// Returns a box that is ticked or not. Its value is `yes`.
    func check(_ text: String) -> PageModel { self.model(text, .check) }

    /// Returns a group of boxes of which any number may be ticked. Its value is one text, in which spaces separate the
    /// chosen options.
    func checks(_ text: String, _ options: [String]) -> PageModel {
        let chosen = (self.values[text] ?? "").split(separator: " ").map(String.init)
        return self.model(text, .checks(options.map { ($0, self.label(text, $0)) }), values: chosen)
    }

    /// Returns the options with their labels. The present value is added if it is not among them.
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

/// The values that a form had at first, in its hidden field `was`. Only the members that were changed in the form are
/// sent to the API.
///
/// So a change that another person has made meanwhile to other members is not undone.
enum InitialFormValues {
    private static let field = "was"

    /// Returns the value of the hidden field. A form that is shown again keeps its first value.
    ///
    /// - Parameter members: The stored values by the members of the API.
    static func value(_ members: [String: JSONValue], _ request: PageRequest) -> String {
        request.form[Self.field] ?? JSONValue.object(members).line
    }

    /// Returns the members that differ from the first values of the form; all members for a form without the hidden
    /// field.
    static func changes(_ members: [String: JSONValue], _ form: FormData) -> [String: JSONValue] {
        guard let text = form[Self.field], let json = try? JSONValue(parsing: Data(text.utf8)),
            case .object(let old) = json
        else { return members }
        return members.filter { $0.value != old[$0.key] ?? .null }
    }
}

/// Converts the values of fields of the type `datetime-local`: times in UTC, without a zone.
enum TimeField {
    /// Returns the time in the form of the API; `nil` for an empty field. A text that is no time is returned as it is,
    /// so that the API rejects it.
    static func json(_ text: String?) -> JSONValue? {
        guard let text, !text.isEmpty else { return nil }
        guard self.isTime(text) else { return .string(text) }
        return .string(text.utf8.count == 16 ? "\(text):00Z" : "\(text)Z")
    }

    /// Returns the value with which a page shows the field again; empty for a text that a browser would reject.
    static func value(_ text: String?) -> String {
        guard let text, self.isTime(text) else { return "" }
        return text
    }

    private static func isTime(_ text: String) -> Bool {
        let form = #/[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?/#
        return text.utf8.count <= 19 && text.wholeMatch(of: form) != nil
    }
}

/// The error message of the API at the field of a form that caused it.
enum FieldErrors {
    /// Returns the template variable `problems` of a form: the message by the name of the field. Dots and brackets in
    /// paths of the API become `_`.
    ///
    /// - Parameter names: The names of fields by the paths of the API, where the two differ.
    static func model(_ error: RequestError?, names: [String: String] = [:]) -> PageModel {
        guard let error, let path = error.path else { return [:] }
        let name = names[path] ?? String(path.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return [name: error.message]
    }
}
