import Foundation

/// A screen of the app that a notification may open. A class, a path or both lead to it. The fallback screen may have
/// neither.
public struct NotificationScreen: Hashable, Sendable {
    /// The screen's name in the app, which consists of 1 to 64 letters, digits, `-`, `.` and `_`.
    public let name: String
    /// The value of `class` in a payload that opens the screen. It has at most 128 bytes, and is `nil` if none opens
    /// it.
    public let `class`: String?
    /// The pattern of the screen's path, such as `/orders/:id`, where `:id` stands for the value of the parameter `id`.
    /// It is `nil` if no path opens the screen.
    public let path: String?
    public let parameters: [Parameter]

    public init(name: String, class: String? = nil, path: String? = nil, parameters: [Parameter] = []) {
        (self.name, self.class, self.path, self.parameters) = (name, `class`, path, parameters)
    }

    /// A parameter of the screen, whose value is a member of the payload's `property` or a component of its `path`.
    public struct Parameter: Hashable, Sendable {
        public let name: String
        public let isRequired: Bool
        let type: ValueType

        /// Creates a parameter for a string without control characters other than line breaks and tabs.
        /// - Parameter maximumLength: The maximum length in bytes of UTF-8, from 1 to 4096.
        public static func text(_ name: String, maximumLength: Int = 256, isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .text(maximumLength: maximumLength))
        }

        /// Creates a parameter for a whole number in a range.
        public static func integer(
            _ name: String,
            in range: ClosedRange<Int64> = .min ... .max,
            isRequired: Bool = true
        ) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .integer(range))
        }

        /// Creates a parameter for a number in a range, with a fraction or without.
        public static func number(
            _ name: String,
            in range: ClosedRange<Double> = -.greatestFiniteMagnitude ... .greatestFiniteMagnitude,
            isRequired: Bool = true
        ) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .number(range))
        }

        /// Creates a parameter for a Boolean value, `true` or `false`.
        public static func boolean(_ name: String, isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .boolean)
        }

        /// Creates a parameter for a time: a string of RFC 3339, or seconds since 1970, in the years 1 to 9999.
        public static func date(_ name: String, isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .date)
        }

        /// Creates a parameter for a UUID in its usual form, in letters of any case.
        public static func uuid(_ name: String, isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .uuid)
        }

        /// Creates a parameter for one of the strings in a list, which has 1 to 100 strings of at most 64 bytes each.
        public static func choice(_ name: String, of choices: [String], isRequired: Bool = true) -> Parameter {
            Parameter(name: name, isRequired: isRequired, type: .choice(choices))
        }
    }

    /// The type of a parameter, with its limits.
    enum ValueType: Hashable, Sendable {
        case text(maximumLength: Int)
        case integer(ClosedRange<Int64>)
        case number(ClosedRange<Double>)
        case boolean
        case date
        case uuid
        case choice([String])
    }
}

extension NotificationScreen {
    /// Checks the members of a payload's `property`, and returns the values for the screen. Members are checked in
    /// alphabetical order and the first error is thrown, so that the same payload always has the same error.
    func values(of properties: [String: JSONValue]) throws(RouteError) -> ScreenValues {
        guard properties.count <= ScreenRules.Limit.parameters else {
            throw RouteError(.tooLong, "there are more than \(ScreenRules.Limit.parameters) properties")
        }
        var values: [String: JSONValue] = [:]
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            let parameter = try self.parameter(name)
            // A template leaves a value out by making it null.
            if value != .null { values[name] = try parameter.checked(value) }
        }
        return try self.complete(values)
    }

    /// Converts the strings of a path and its query to values, and returns the values after checking them.
    /// - Throws: ``RouteError`` for an unknown, wrong or missing value.
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
    /// Returns `value` after checking that it has the parameter's type and is within the limits.
    /// - Throws: ``RouteError`` for any other value.
    fileprivate func checked(_ value: JSONValue) throws(RouteError) -> JSONValue {
        switch value {
        case .array, .object: throw RouteError(.tooDeep, "the property \(self.name) is an array or an object")
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

    private var outside: RouteError { RouteError(.notAllowed, "the property \(self.name) is outside its limits") }
}

extension NotificationScreen.ValueType {
    /// Converts a string in a path to the parameter's type. Returns the string itself if that is not possible.
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
        // `Int64` would also accept a plus sign.
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
