package import PushSupport

/// Checks values by a schema of the OpenAPI document, with the words of JSON Schema that ``Schema`` writes.
package struct SchemaCheck {
    private let root: JSONValue
    private let components: [String: JSONValue]

    package init(_ schema: Schema) { (self.root, self.components) = (schema.json, schema.components) }

    package func allows(_ value: JSONValue) -> Bool { self.allows(value, by: self.root) }

    private func allows(_ value: JSONValue, by schema: JSONValue) -> Bool {
        if let name = schema["$ref"].stringValue?.split(separator: "/").last {
            return self.allows(value, by: self.components[String(name)] ?? ["not": [:]])
        }
        let types = schema["type"].stringValue.map { [$0] } ?? schema["type"].elements.compactMap(\.stringValue)
        guard types.isEmpty || types.contains(where: { Self.isOf($0, value) }) else { return false }
        guard schema["enum"] == .null || schema["enum"].elements.contains(value) else { return false }
        guard schema["const"] == .null || schema["const"] == value else { return false }
        return self.allowsCombined(value, by: schema) && self.allowsContent(value, by: schema)
    }

    private static func isOf(_ type: String, _ value: JSONValue) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .number),
            ("string", .string), ("array", .array), ("object", .object):
            true
        default: false
        }
    }

    private func allowsCombined(_ value: JSONValue, by schema: JSONValue) -> Bool {
        let choices = schema["anyOf"].elements
        guard choices.isEmpty || choices.contains(where: { self.allows(value, by: $0) }) else { return false }
        guard schema["allOf"].elements.allSatisfy({ self.allows(value, by: $0) }) else { return false }
        if schema["not"] != .null, self.allows(value, by: schema["not"]) { return false }
        if schema["if"] != .null, self.allows(value, by: schema["if"]) { return self.allows(value, by: schema["then"]) }
        return true
    }

    private func allowsContent(_ value: JSONValue, by schema: JSONValue) -> Bool {
        switch value {
        case .string(let text):
            guard Self.isIn(text.unicodeScalars.count, schema, "minLength", "maxLength") else { return false }
            return schema["pattern"].stringValue.map { Self.matches(text, $0) } ?? true
        case .integer(let number):
            return Self.isIn(Double(number), schema)
        case .number(let number):
            return Self.isIn(number, schema)
        case .array(let values):
            guard Self.isIn(values.count, schema, "minItems", "maxItems") else { return false }
            return schema["items"] == .null || values.allSatisfy { self.allows($0, by: schema["items"]) }
        case .object(let members):
            return self.allows(members, by: schema)
        case .null, .bool:
            return true
        }
    }

    private func allows(_ members: [String: JSONValue], by schema: JSONValue) -> Bool {
        guard Self.isIn(members.count, schema, "minProperties", "maxProperties") else { return false }
        guard schema["required"].elements.compactMap(\.stringValue).allSatisfy({ members[$0] != nil }) else {
            return false
        }
        return members.allSatisfy { name, value in
            if schema["propertyNames"] != .null, !self.allows(.string(name), by: schema["propertyNames"]) {
                return false
            }
            if case .object(let known) = schema["properties"], let shape = known[name] {
                return self.allows(value, by: shape)
            }
            switch schema["additionalProperties"] {
            case .bool(let isOpen): return isOpen
            case .object: return self.allows(value, by: schema["additionalProperties"])
            default: return true
            }
        }
    }

    private static func isIn(_ count: Int, _ schema: JSONValue, _ lower: String, _ upper: String) -> Bool {
        if case .integer(let least) = schema[lower], count < Int(least) { return false }
        if case .integer(let most) = schema[upper], count > Int(most) { return false }
        return true
    }

    private static func isIn(_ number: Double, _ schema: JSONValue) -> Bool {
        (self.bound(schema["minimum"]) ?? -.infinity) <= number
            && number <= (self.bound(schema["maximum"]) ?? .infinity)
    }

    private static func bound(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// Every pattern of the document is about the whole text.
    private static func matches(_ text: String, _ pattern: String) -> Bool {
        guard pattern.hasPrefix("^"), pattern.hasSuffix("$"),
            let regex = try? Regex(String(pattern.dropFirst().dropLast()))
        else { return false }
        return (try? regex.wholeMatch(in: text)) != nil
    }
}
