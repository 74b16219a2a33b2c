/// The fields of a form (XEP-0004), each with its first value.
struct DataForm: Hashable, Sendable {
    var fields: [String: String] = [:]

    init(_ fields: [String: String] = [:]) { self.fields = fields }

    /// Reads a form; `nil` for any other element.
    init?(_ element: XMLElement?) {
        guard let element, element.has("x", ComponentNamespace.form) else { return nil }
        for field in element.children("field", ComponentNamespace.form) {
            guard let name = field["var"], self.fields[name] == nil else { continue }
            self.fields[name] = field.child("value", ComponentNamespace.form)?.text ?? ""
        }
    }

    subscript(name: String) -> String? { self.fields[name] }

    /// The element.
    /// - Parameter type: `form`, `submit` or `result`.
    func element(type: String) -> XMLElement {
        let fields = self.fields.sorted { $0.key < $1.key }.map { name, value in
            let value = XMLElement("value", namespace: ComponentNamespace.form, text: value)
            return XMLElement("field", namespace: ComponentNamespace.form, attributes: ["var": name], children: [value])
        }
        return XMLElement("x", namespace: ComponentNamespace.form, attributes: ["type": type], children: fields)
    }
}
