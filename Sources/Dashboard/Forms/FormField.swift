import PushSupport
import WebPages

/// A field of an HTML form, with its label, value and hint. The template partial `control` renders it.
struct FormField {
    /// The HTML control with which a page shows a field.
    enum Control {
        /// A single-line input. `type` is the type of the HTML input, such as `password`, and `list` is the id of the
        /// HTML list with suggestions, or `nil` if there are no suggestions.
        case line(type: String, list: String? = nil)
        case area
        /// A multi-line text area with a monospaced font, such as for JSON.
        case code
        case file(accept: String)
        /// A drop-down list of several values, each with its label, from which one is chosen.
        case choice([(value: String, label: String)])
        case radio([(value: String, label: String)])
        case checks([(value: String, label: String)])
        /// A single checkbox. Its value is `yes` if it is checked.
        case check
    }

    let name: String
    let label: String
    var control = Control.line(type: "text")
    /// The values of the field. There is at most one, except for ``Control/checks(_:)``, whose values are those that
    /// are checked.
    var values: [String] = []
    var hint: String?
    var isRequired = false
    /// The maximum number of characters that can be entered, or `nil` for no limit.
    var maximum: Int?
    /// The range of numbers that can be entered, or `nil` for text and for numbers without bounds.
    private var range: ClosedRange<Int64>?
    /// The value of the HTML attribute `autocomplete`, such as `new-password`. By default, it is `off`.
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
    ///   - path: The path of the member in `list`, or `nil` if it equals the name of the field.
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

    mutating func limit(to member: Schema) { (self.maximum, self.range) = (member.maximumLength, member.range) }

    /// Returns the variables of the partial `control`. Each variable has a value, because a template would otherwise
    /// look for a missing variable among those of the page.
    /// - Parameters:
    ///   - form: The name of the form, which makes ids unique in the page.
    ///   - problem: The error message for this field, or `nil` for no error.
    ///   - language: The language of the error message, or `nil` for that of the page.
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

    /// Returns the HTML attributes of a single-line input. In HTML, only strings have maximum lengths, and only numbers
    /// have bounds.
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
