import Foundation

extension NotificationScreen {
    /// Checks the members of a payload's `property`.
    ///
    /// The first fault in alphabetical order counts, so that the same payload always has the same refusal.
    func values(of properties: [String: JSONValue]) throws(RouteError) -> ScreenValues {
        guard properties.count <= ScreenRules.Limit.parameters else {
            throw RouteError(.tooLong, "there are more than \(ScreenRules.Limit.parameters) properties")
        }
        var values: [String: JSONValue] = [:]
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            let parameter = try self.parameter(name)
            // Null is how a template leaves a value out.
            if value != .null { values[name] = try parameter.checked(value) }
        }
        return try self.complete(values)
    }

    /// Checks the texts of a path and its query.
    func values(of texts: [String: String]) throws(RouteError) -> ScreenValues {
        var values: [String: JSONValue] = [:]
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            let parameter = try self.parameter(name)
            values[name] = try parameter.checked(parameter.type.value(of: text))
        }
        return try self.complete(values)
    }

    private func parameter(_ name: String) throws(RouteError) -> Parameter {
        guard let parameter = self.parameters.first(where: { $0.name.isSame(as: name) }) else {
            throw RouteError(.unknownProperty, "the screen \(self.name) has no property \(name.forLog)")
        }
        return parameter
    }

    private func complete(_ values: [String: JSONValue]) throws(RouteError) -> ScreenValues {
        if let missing = self.parameters.first(where: { $0.isRequired && values[$0.name] == nil }) {
            throw RouteError(.missingProperty, "the screen \(self.name) needs the property \(missing.name)")
        }
        return ScreenValues(values)
    }
}

extension NotificationScreen.Parameter {
    /// Returns a value that is of the type and within its limits.
    fileprivate func checked(_ value: JSONValue) throws(RouteError) -> JSONValue {
        switch value {
        case .array, .object:
            throw RouteError(.tooDeep, "the property \(self.name) is an array or an object")
        case .null, .bool, .integer, .number, .string: break
        }
        switch self.type {
        case .text(let maximumLength):
            guard let text = value.string else { throw self.wrongType("text") }
            guard text.utf8.count <= maximumLength else {
                throw RouteError(.tooLong, "the property \(self.name) has more than \(maximumLength) bytes")
            }
            guard text.unicodeScalars.allSatisfy({ !$0.isControl || $0 == "\n" || $0 == "\t" }) else {
                throw RouteError(.notAllowed, "the property \(self.name) has control characters")
            }
        case .integer(let range):
            guard let number = value.integer else { throw self.wrongType("whole number") }
            guard range.contains(number) else { throw self.outside }
            return .integer(number)
        case .number(let range):
            guard let number = Double(screenValue: value) else { throw self.wrongType("number") }
            guard range.contains(number) else { throw self.outside }
        case .boolean: if Bool(screenValue: value) == nil { throw self.wrongType("true or false") }
        case .date: if Date(screenValue: value) == nil { throw self.wrongType("time of RFC 3339 or in seconds") }
        case .uuid: if UUID(screenValue: value) == nil { throw self.wrongType("UUID") }
        case .choice(let choices):
            guard let text = value.string else { throw self.wrongType("text") }
            guard choices.contains(where: { $0.isSame(as: text) }) else {
                throw RouteError(.notAllowed, "the property \(self.name) is none of its choices")
            }
        }
        return value
    }

    private func wrongType(_ type: String) -> RouteError {
        RouteError(.wrongType, "the property \(self.name) is no \(type)")
    }

    private var outside: RouteError {
        RouteError(.notAllowed, "the property \(self.name) is outside its limits")
    }
}

extension NotificationScreen.ValueType {
    /// Returns the value that a text of a path stands for; the text itself where it stands for no value of this type.
    fileprivate func value(of text: String) -> JSONValue {
        switch self {
        case .text, .uuid, .choice: .string(text)
        case .integer: Self.integer(text) ?? .string(text)
        case .number: Self.number(text) ?? .string(text)
        case .boolean: text == "true" ? .bool(true) : text == "false" ? .bool(false) : .string(text)
        case .date: Self.integer(text) ?? .string(text)
        }
    }

    private static func integer(_ text: String) -> JSONValue? {
        // `Int64` would also take a plus sign.
        guard text.utf8.first != UInt8(ascii: "+") else { return nil }
        return Int64(text).map { .integer($0) }
    }

    private static func number(_ text: String) -> JSONValue? {
        let characters = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard characters, let number = Double(text), number.isFinite else { return nil }
        return .number(number)
    }
}
