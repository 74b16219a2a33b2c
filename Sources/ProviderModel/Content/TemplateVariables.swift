package import PushSupport

/// Values that a request gives to the variables of a template, the same for all recipients.
///
/// They take precedence over attributes of devices, which fill in the variables that the request does not name.
package struct TemplateVariables: Hashable, Sendable {
    private static let maximumCount = 100
    private static let maximumValue = 2048

    package static let member = Member.openObject(
        "variables",
        as: .map(
            of: .any(of: [.string(length: 0...Self.maximumValue), .number, .bool]),
            maximum: Self.maximumCount
        ).described("Values of the template's variables for all recipients.")
    )

    private let values: [BytewiseString: String]

    /// Reads the member `variables`.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        let place = Self.member.name
        let members = try fields.value(Self.member) ?? [:]
        guard members.count <= Self.maximumCount else {
            throw fields.error(place, "too_many", "at most \(Self.maximumCount) variables, not \(members.count)")
        }
        var values: [BytewiseString: String] = [:]
        for (name, value) in members {
            let text: String? =
                switch value {
                case .string(let text): text
                case .integer(let number): "\(number)"
                case .number(let number): "\(number)"
                case .bool(let flag): "\(flag)"
                case .null, .array, .object: nil
                }
            guard let text else { throw fields.wrongType("\(place).\(name)", "a text, a number, true or false") }
            guard text.utf8.count <= Self.maximumValue else {
                throw fields.error("\(place).\(name)", "too_long", "at most \(Self.maximumValue) bytes")
            }
            values[BytewiseString(name)] = text
        }
        self.values = values
    }

    /// Fills the values into the content of a template.
    /// - Parameters:
    ///   - content: The members of the content. Request headers have no variables.
    ///   - place: The path of the template's reference in the request, for errors.
    /// - Throws: ``RequestError`` for a variable that no text of the template has.
    func filled(_ content: [String: JSONValue], at place: String) throws(RequestError) -> [String: JSONValue] {
        guard !self.values.isEmpty else { return content }
        func error(_ name: String?, _ code: String, _ message: String) -> RequestError {
            let path = "\(place).\(Self.member.name)" + (name.map { ".\($0)" } ?? "")
            return RequestError(.invalid, code: code, message: message, path: path)
        }
        guard content[TemplateReference.member] == .bool(true) else {
            throw error(nil, "conflicting_field", "the template has no variables: its content lacks `template` true")
        }
        var used: Set<BytewiseString> = []
        var filled = content
        for (name, value) in content where !ContentHeaders.object.known.contains(name) {
            filled[name] = self.filled(value, &used)
        }
        if let name = self.values.keys.filter({ !used.contains($0) }).min()?.text {
            throw error(name, "unknown_variable", "the template has no variable of this name")
        }
        return filled
    }

    private func filled(_ value: JSONValue, _ used: inout Set<BytewiseString>) -> JSONValue {
        switch value {
        case .string(let text): return .string(self.filled(text, &used))
        case .array(let elements): return .array(elements.map { self.filled($0, &used) })
        case .object(let members): return .object(members.mapValues { self.filled($0, &used) })
        case .integer, .number, .bool, .null: return value
        }
    }

    /// Fills a text. A text that is not valid stays as it is, and is reported by the later check of the content.
    private func filled(_ text: String, _ used: inout Set<BytewiseString>) -> String {
        guard TemplateText.hasMarks(text), let template = try? TemplateText(parsing: text) else { return text }
        // Adjacent literals are joined before their braces are escaped, because two braces may meet where they join.
        var (filled, literal) = ("", "")
        for part in template.parts {
            switch part {
            case .text(let text): literal += text
            case .variable(let name, let fallback):
                if let value = self.values[BytewiseString(name)] {
                    used.insert(BytewiseString(name))
                    literal += value
                } else {
                    filled += Self.escaped(literal) + (fallback.map { "{{\(name)|\($0)}}" } ?? "{{\(name)}}")
                    literal = ""
                }
            }
        }
        return filled + Self.escaped(literal)
    }

    private static func escaped(_ text: String) -> String { text.replacing("{{", with: "{{{{") }
}
