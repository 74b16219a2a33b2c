import PushSupport
import WebPages

/// A field of a form, for the partial `control`: its label, its value, a hint, and the error of the API below it.
struct FormField {
    /// The control of a field.
    enum Control {
        /// A line of text; the type is that of HTML, such as `text` or `password`, `list` the id of suggestions.
        case line(type: String, list: String? = nil)
        case area
        /// Text of several lines that a program reads, such as JSON.
        case code
        case file(accept: String)
        /// One of several values in a list, each with its label.
        case choice([(value: String, label: String)])
        /// One of several values, all of which are shown.
        case radio([(value: String, label: String)])
        /// Any of several values.
        case checks([(value: String, label: String)])
        /// A box that is ticked or not. Its value is `yes`.
        case check
    }

    let name: String
    let label: String
    var control = Control.line(type: "text")
    /// The value of the field; of ``Control/checks(_:)`` all that are chosen.
    var values: [String] = []
    var hint: String?
    var isRequired = false
    /// The most characters that a browser takes.
    var maximum: Int?
    /// The value of `autocomplete`.
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

    /// The variables of the partial. Every one has a value, because a missing one would be looked for in the page.
    ///
    /// - Parameters:
    ///   - form: The name of the form, for ids that are unique in the page.
    ///   - problem: The error of the API.
    ///   - language: The language of the error; `nil` for that of the page.
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

/// A form that a page shows: its fields with what was typed, and the errors of the API at them.
struct FormModel {
    /// Returns the values of the partial `control`, for each field.
    ///
    /// - Parameters:
    ///   - name: The name of the form, for ids that are unique in the page.
    ///   - names: The fields by the paths of the API, where they differ.
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
