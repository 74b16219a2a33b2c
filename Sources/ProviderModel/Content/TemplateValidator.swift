import PushSupport

/// Checks the variables in all texts of a payload before the notification is accepted.
struct TemplateValidator {
    /// The member with the first text that has `{{`, or `nil` if there is none.
    private(set) var firstMark: String?
    /// A Boolean value that indicates whether `{{name}}` in the texts is a variable, and not literal.
    let hasVariables: Bool
    private var variables: Set<BytewiseString> = []
    /// The variables that have no default in one of the texts.
    private(set) var withoutDefault: Set<String> = []

    init(hasVariables: Bool) { self.hasVariables = hasVariables }

    /// Checks one payload.
    /// - Throws: ``RequestError`` for a text that is not a valid template, or too many variables.
    mutating func check(_ payload: [String: JSONValue], names: FieldNames) throws(RequestError) {
        try self.check(.object(payload), at: [], names)
    }

    private mutating func check(_ value: JSONValue, at path: [String], _ names: FieldNames) throws(RequestError) {
        switch value {
        case .null, .bool, .integer, .number: break
        case .string(let text): if TemplateText.hasMarks(text) { try self.check(text, field: names.name(path)) }
        case .array(let values):
            for (index, value) in values.enumerated() { try self.check(value, at: path + ["[\(index)]"], names) }
        case .object(let members):
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                try self.check(value, at: path + [name], names)
            }
        }
    }

    private mutating func check(_ text: String, field: String) throws(RequestError) {
        self.firstMark = self.firstMark ?? field
        guard self.hasVariables else { return }
        let template: TemplateText
        do {
            template = try TemplateText(parsing: text)
        } catch {
            throw RequestError(.invalid, code: "invalid_template", message: error.message, path: field)
        }
        for case .variable(let name, let fallback) in template.parts {
            self.variables.insert(BytewiseString(name))
            if fallback == nil { self.withoutDefault.insert(name) }
        }
        guard self.variables.count <= PayloadTemplate.maximumNames else {
            let message = "at most \(PayloadTemplate.maximumNames) different variables"
            throw RequestError(.invalid, code: "too_many", message: message, path: field)
        }
    }
}
