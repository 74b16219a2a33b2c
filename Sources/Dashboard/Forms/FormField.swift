import Foundation
import PushHTTP
import PushSupport
import WebPages

/// A field of an HTML form, with its label, value and hint. The template partial `control` renders it.
struct FormField {
    /// The HTML control with which a field is shown.
    enum Control {
        /// A single-line input. `type` is the type of the HTML input, such as `password`, and `list` is the id of the
        /// HTML list with suggestions; `nil` for none.
        case line(type: String, list: String? = nil)
        case area
        /// A multi-line text area with a monospaced font, such as for JSON.
        case code
        case file(accept: String)
        /// A drop-down list of several values, each with its label, from which one is chosen.
        case choice([(value: String, label: String)])
        /// A group of radio buttons for several values, from which one is chosen.
        case radio([(value: String, label: String)])
        /// A group of checkboxes for several values, of which any number may be checked.
        case checks([(value: String, label: String)])
        /// A single checkbox. Its value is `yes` if it is checked.
        case check
    }

    let name: String
    let label: String
    var control = Control.line(type: "text")
    /// The values of the field: at most one, except for ``Control/checks(_:)``, for which they are all checked values.
    var values: [String] = []
    var hint: String?
    var isRequired = false
    /// The maximum number of characters that can be entered; `nil` for no limit.
    var maximum: Int?
    /// The range of numbers that can be entered; `nil` for a string, and for numbers without bounds.
    private var range: ClosedRange<Int64>?
    /// The value of the HTML attribute `autocomplete`, such as `new-password`; `off` by default.
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

    /// Creates the field for a member of an API request. The field has the bounds of the member, and is required if the
    /// member is.
    /// - Parameters:
    ///   - list: The description of the request's members.
    ///   - path: The path of the member in `list`; `nil` if it equals the name of the field.
    init(
        _ name: String,
        of list: RequestObject,
        at path: String? = nil,
        _ label: String,
        _ control: Control = .line(type: "text"),
        value: String? = nil,
        values: [String] = [],
        hint: String? = nil,
        completion: String = "off"
    ) {
        let path = path ?? name
        self.init(name, label, control, value: value, values: values, hint: hint, completion: completion)
        self.isRequired = list.required.contains(path)
        self.limit(to: list[path])
    }

    /// Sets the bounds of the field to those of a member of an API request.
    mutating func limit(to member: Schema) { (self.maximum, self.range) = (member.maximumLength, member.range) }

    /// Returns the variables of the partial `control`. Each has a value, because a template would otherwise look a
    /// missing variable up among those of the page.
    /// - Parameters:
    ///   - form: The name of the form, which makes ids unique in the page.
    ///   - problem: The error message for this field; `nil` for no error.
    ///   - language: The language of the error message; `nil` for that of the page.
    func model(form: String, problem: String?, language: String? = nil) -> PageModel {
        let id = "\(form)-\(self.name)"
        let described = [problem == nil ? nil : "\(id)-problem", self.hint == nil ? nil : "\(id)-hint"]
        let ids = described.compactMap(\.self).joined(separator: " ")
        var model: PageModel = [
            "name": self.name, "label": self.label, "value": self.values.first ?? "", "id": id,
            "hint": self.hint ?? false, "problem": problem ?? false, "problemLanguage": language ?? false,
            "described": ids.isEmpty ? false : ids, "isRequired": self.isRequired,
            "completion": self.completion,
            "line": false, "area": false, "file": false, "choice": false, "group": false, "check": false,
        ]
        switch self.control {
        case .line(let type, let list): model["line"] = self.line(type, list)
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

    /// Returns the HTML attributes of a single-line input. HTML has maximum lengths only for strings, and bounds only
    /// for numbers.
    private func line(_ type: String, _ list: String?) -> PageModel {
        let maximum = Self.typesOfTexts.contains(type) ? self.maximum : nil
        let range = type == "number" ? self.range : nil
        // JavaScript numbers are exact integers only up to 2^53.
        let most = range.flatMap { $0.upperBound <= 1 << 53 ? $0.upperBound : nil }
        return [
            "type": type, "list": list ?? false, "maximum": maximum.map { "\($0)" } ?? false,
            "least": range.map { "\($0.lowerBound)" } ?? false, "most": most.map { "\($0)" } ?? false,
        ]
    }

    /// The types of an HTML input whose value is a string, which may have a maximum length.
    private static let typesOfTexts: Set<String> = ["text", "url", "search", "email", "tel", "password"]

    private func options(_ options: [(value: String, label: String)]) -> [PageModel] {
        options.map { ["value": $0.value, "label": $0.label, "chosen": self.values.contains($0.value)] }
    }
}

/// The fields of a form with their values and error messages, in the form that templates need.
struct FormModel {
    /// Returns the variables of the partial `control` for each field. The field that caused `error` shows its message.
    /// - Parameters:
    ///   - name: The name of the form, which makes ids unique in the page.
    ///   - names: The names of fields by the paths of API members, where the two differ.
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

/// Creates the fields of a form from its localized labels and hints.
///
/// The label of the field `title` is the localized text `AREA.title`, its hint is `AREA.titleHint`, and the label of an
/// option is `AREA.titleOptions.VALUE`.
struct LabelledFields {
    let texts: LocalizedTexts
    /// The path of the localized texts that contain the labels and hints, such as `compose`.
    let area: String
    let values: [String: String]
    /// The error messages of the API, by the name of the field.
    let problems: [String: String]

    /// Returns a field with a single-line input.
    /// - Parameters:
    ///   - type: The type of the HTML input, such as `number`.
    ///   - member: The schema of the API member for which the field stands; `nil` if it stands for no single member.
    ///   - name: The name of the field; `nil` if it equals the name of its localized texts.
    ///   - list: The id of a list of suggestions; `nil` for none.
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

    /// Returns a drop-down list. An option without a localized text is its own label.
    func select(_ text: String, _ options: [String], name: String? = nil) -> PageModel {
        self.model(text, name: name, .choice(self.options(text, name: name ?? text, options)))
    }

    func radio(_ text: String, _ options: [String]) -> PageModel {
        self.model(text, .radio(self.options(text, name: text, options)))
    }

    /// Returns a single checkbox, whose value is `yes` if it is checked.
    func check(_ text: String) -> PageModel { self.model(text, .check) }

    /// Returns a group of checkboxes. Its value is one string, in which the checked options are separated by spaces.
    func checks(_ text: String, _ options: [String]) -> PageModel {
        let chosen = (self.values[text] ?? "").split(separator: " ").map(String.init)
        return self.model(text, .checks(options.map { ($0, self.label(text, $0)) }), values: chosen)
    }

    /// Returns the options with their labels. The current value is appended if it is not among them.
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

/// Controls that offer the values of an API member, each with its label.
extension FormField.Control {
    /// Returns a drop-down list of the member's values. `label` returns the label of a value.
    static func choice(of member: Schema, _ label: (String) -> String) -> Self {
        .choice(member.choices.map { ($0, label($0)) })
    }

    /// Returns a group of checkboxes for the member's values. `label` returns the label of a value.
    static func checks(of member: Schema, _ label: (String) -> String) -> Self {
        .checks(member.choices.map { ($0, label($0)) })
    }
}

/// Access to the values of fields that stand for API members.
extension FormData {
    /// Returns the value of a field; `nil` if it is empty or absent.
    /// - Throws: ``RequestError`` for a value that is longer than the member may be.
    func text(_ name: String, of member: Schema) throws(RequestError) -> String? {
        try self.text(name, maximum: member.maximumLength ?? .max)
    }

    /// Returns the value of a field as a number; `nil` if it is empty or absent.
    /// - Throws: ``RequestError`` for a value that is not a number or is outside the member's bounds.
    func number(_ name: String, of member: Schema) throws(RequestError) -> Int64? {
        try self.number(name, in: member.range ?? Int64.min...Int64.max)
    }
}

/// The initial values of a form, which its hidden field `was` contains. Only members that were changed in the form are
/// sent to the API.
///
/// Thus a change that another person has made in the meantime to other members is not reverted.
enum InitialFormValues {
    private static let field = "was"

    /// Returns the value of the hidden field. A form that is shown again after an error keeps its first value.
    /// - Parameter members: The stored values, by the names of the API members.
    static func value(_ members: [String: JSONValue], _ request: PageRequest) -> String {
        request.form[Self.field] ?? JSONValue.object(members).line
    }

    /// Returns the members that differ from the initial values of the form. Returns all members for a form without the
    /// hidden field.
    static func changes(_ members: [String: JSONValue], _ form: FormData) -> [String: JSONValue] {
        guard let text = form[Self.field], let json = try? JSONValue(parsing: Data(text.utf8)),
            case .object(let old) = json
        else { return members }
        return members.filter { $0.value != old[$0.key] ?? .null }
    }
}

/// Converts the values of fields of the type `datetime-local`, which are times in UTC without a time zone.
enum TimeField {
    /// Returns the time in the format of the API; `nil` for an empty field. A value that is not a time is returned
    /// unchanged, so that the API rejects it.
    static func json(_ text: String?) -> JSONValue? {
        guard let text, !text.isEmpty else { return nil }
        guard self.isTime(text) else { return .string(text) }
        return .string(text.utf8.count == 16 ? "\(text):00Z" : "\(text)Z")
    }

    /// Returns the value with which a page shows the field again. It is empty if a browser would not accept it as a
    /// time.
    static func value(_ text: String?) -> String {
        guard let text, self.isTime(text) else { return "" }
        return text
    }

    private static func isTime(_ text: String) -> Bool {
        let form = #/[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?/#
        return text.utf8.count <= 19 && text.wholeMatch(of: form) != nil
    }
}

/// Maps an error of the API to the field of a form that caused it.
enum FieldErrors {
    /// Returns the template variable `problems` of a form: the error message, by the name of the field. Dots and
    /// brackets in paths of the API become `_`.
    /// - Parameter names: The names of fields by the paths of API members, where the two differ.
    static func model(_ error: RequestError?, names: [String: String] = [:]) -> PageModel {
        guard let error, let path = error.path else { return [:] }
        let name = names[path] ?? String(path.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return [name: error.message]
    }
}
