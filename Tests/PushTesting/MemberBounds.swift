package import PushSupport

/// Compares the members of a request with their schemas: both have the same bounds.
package enum MemberBounds {
    /// Returns the members for which the two differ, each with the reason; empty if they agree.
    /// - Parameter place: The name of the object for the texts.
    package static func differences(of members: [any RequestMemberProtocol], in place: String) throws -> [String] {
        var differences: [String] = []
        for member in members {
            let name = "\(place).\(member.name)"
            differences += try Self.differences(of: member.members, in: name)
            // What code reads has no bounds of its own.
            guard !(member is RequestMember<JSONValue>) else { continue }
            let edges = Edges(of: member.schema.json)
            for value in edges.within {
                if !SchemaCheck(member.schema).allows(value) {
                    differences.append("\(name): the schema forbids a bound")
                }
                let code = try Self.error(of: member, value)?.code
                // A text at its bound may say nothing that is known.
                let isBound = code == "too_long" || code == "too_many"
                if edges.areRead ? code != nil : isBound { differences.append("\(name): \(code ?? "")") }
            }
            for value in edges.beyond {
                if SchemaCheck(member.schema).allows(value) { differences.append("\(name): the schema has no bound") }
                if try Self.error(of: member, value) == nil { differences.append("\(name): the parser has no bound") }
            }
        }
        return differences
    }

    /// Returns the error of an object with one member; `nil` if that can be read.
    private static func error(of member: any RequestMemberProtocol, _ value: JSONValue) throws -> RequestError? {
        let fields = try JSONFields(members: [member.name: value], path: nil, known: [member.name])
        do throws(RequestError) {
            try member.check(fields)
            return nil
        } catch {
            return error
        }
    }

    /// The values at the bounds of a schema, and those next to them.
    private struct Edges {
        var within: [JSONValue] = []
        var beyond: [JSONValue] = []
        /// Whether everything within the bounds can be read.
        var areRead = true

        init(of schema: JSONValue) {
            let types = schema["type"].stringValue.map { [$0] } ?? schema["type"].elements.compactMap(\.stringValue)
            self.within = schema["enum"].elements.filter { $0 != .null }
            guard self.within.isEmpty else { return }
            switch types.first {
            case "string":
                self.addTexts(Self.bounds(schema, "minLength", "maxLength"), hasPattern: schema["pattern"] != .null)
            case "integer":
                guard let range = Self.bounds(schema, "minimum", "maximum") else { return }
                self.within = [.integer(range.lowerBound), .integer(range.upperBound)]
                if range.lowerBound > .min { self.beyond.append(.integer(range.lowerBound - 1)) }
                if range.upperBound < .max { self.beyond.append(.integer(range.upperBound + 1)) }
            case "array":
                guard let count = Self.bounds(schema, "minItems", "maxItems") else { return }
                let element = schema["items"]["enum"].elements.first ?? .string("x")
                self.beyond = [.array(Array(repeating: element, count: Int(count.upperBound) + 1))]
            case "boolean": (self.within, self.beyond) = ([.bool(true), .bool(false)], [.string("true")])
            default: break
            }
        }

        private mutating func addTexts(_ length: ClosedRange<Int64>?, hasPattern: Bool) {
            // Texts of one length are checked by what they are for.
            guard let length, length.lowerBound < length.upperBound else { return }
            func text(_ count: Int64) -> JSONValue { .string(String(repeating: "x", count: Int(count))) }
            self.areRead = false
            if !hasPattern { self.within = [text(length.upperBound)] }
            self.beyond = [text(length.upperBound + 1)]
            if length.lowerBound > 0 { self.beyond.append(text(0)) }
        }

        private static func bounds(_ schema: JSONValue, _ lower: String, _ upper: String) -> ClosedRange<Int64>? {
            guard case .integer(let least) = schema[lower], case .integer(let most) = schema[upper] else { return nil }
            return least...most
        }
    }
}
