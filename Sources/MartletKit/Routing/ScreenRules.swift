public import Foundation

/// The screens that notifications may open, and the fallback screen that is opened if a payload is refused. Rules are
/// created in code, or parsed from a file that an Android app can share (``init(json:)``), and are always validated.
public struct ScreenRules: Hashable, Sendable {
    public let screens: [NotificationScreen]
    /// The name of the screen that is opened when a payload is refused. The screen requires no parameters.
    public let fallback: String

    /// The maximum numbers and lengths in a rule file and in a payload. Lengths are in bytes.
    enum Limit {
        static let screens = 500
        static let parameters = 32
        static let name = 64
        static let `class` = 128
        static let path = 1024
        static let pattern = 256
        static let segments = 16
        static let text = 4096
        static let choices = 100
        static let choice = 64
    }

    /// Creates and validates rules. The screen `fallback` must not require parameters.
    /// - Throws: ``ScreenRulesError`` with the location of the first mistake.
    public init(screens: [NotificationScreen], fallback: String) throws(ScreenRulesError) {
        (self.screens, self.fallback) = (screens, fallback)
        guard (1...Limit.screens).contains(screens.count) else {
            throw ScreenRulesError("screens", "there must be 1 to \(Limit.screens)")
        }
        guard let fallbackScreen = screens.first(where: { $0.name == fallback }) else {
            throw ScreenRulesError("fallback", "no screen has this name")
        }
        var (names, classes, shapes): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        for (index, screen) in screens.enumerated() {
            let place = "screens[\(index)]"
            try Self.check(screen, at: place, isFallback: screen.name == fallback)
            guard names.insert(screen.name).inserted else {
                throw ScreenRulesError("\(place).name", "another screen has this name")
            }
            if let name = screen.class, !classes.insert(name).inserted {
                throw ScreenRulesError("\(place).class", "another screen has this class")
            }
            if let path = screen.path {
                let pattern = try PathPattern(path, of: screen, at: "\(place).path")
                guard shapes.insert(pattern.shape).inserted else {
                    throw ScreenRulesError("\(place).path", "another screen's path matches the same paths")
                }
            }
        }
        if let parameter = fallbackScreen.parameters.first(where: \.isRequired) {
            throw ScreenRulesError("fallback", "its screen needs \(parameter.name), and a fallback gets no values")
        }
    }

    private static func check(_ screen: NotificationScreen, at place: String, isFallback: Bool) throws(ScreenRulesError)
    {
        try self.checkName(screen.name, at: "\(place).name")
        if screen.class == nil, screen.path == nil, !isFallback {
            throw ScreenRulesError(place, "it has neither a class nor a path, so nothing could open it")
        }
        if let name = screen.class {
            guard (1...Limit.class).contains(name.utf8.count), !name.unicodeScalars.contains(where: \.isControl) else {
                throw ScreenRulesError(
                    "\(place).class",
                    "it must have 1 to \(Limit.class) bytes, none of them a control character"
                )
            }
        }
        guard screen.parameters.count <= Limit.parameters else {
            throw ScreenRulesError("\(place).parameters", "there must be at most \(Limit.parameters)")
        }
        var names: Set<String> = []
        for (index, parameter) in screen.parameters.enumerated() {
            let place = "\(place).parameters[\(index)]"
            try self.checkName(parameter.name, at: "\(place).name")
            guard names.insert(parameter.name).inserted else {
                throw ScreenRulesError("\(place).name", "another parameter of the screen has this name")
            }
            try self.check(parameter.type, at: place)
        }
    }

    private static func checkName(_ name: String, at place: String) throws(ScreenRulesError) {
        guard (1...Limit.name).contains(name.utf8.count), name.utf8.allSatisfy(\.isName) else {
            throw ScreenRulesError(place, "it must have 1 to \(Limit.name) letters, digits, -, . or _")
        }
    }

    private static func check(_ type: NotificationScreen.ValueType, at place: String) throws(ScreenRulesError) {
        switch type {
        case .text(let maximumLength):
            guard (1...Limit.text).contains(maximumLength) else {
                throw ScreenRulesError("\(place).maximumLength", "use 1 to \(Limit.text) bytes")
            }
        case .choice(let choices):
            let isBounded = choices.allSatisfy { choice in
                (1...Limit.choice).contains(choice.utf8.count) && !choice.unicodeScalars.contains(where: \.isControl)
            }
            guard (1...Limit.choices).contains(choices.count), Set(choices).count == choices.count, isBounded else {
                throw ScreenRulesError(
                    "\(place).choices",
                    "use 1 to \(Limit.choices) different texts of 1 to \(Limit.choice) bytes without control characters"
                )
            }
        case .number(let range):
            guard range.lowerBound.isFinite, range.upperBound.isFinite else {
                throw ScreenRulesError(place, "minimum and maximum must be finite")
            }
        case .integer, .boolean, .date, .uuid: break
        }
    }
}

/// A mistake in screen rules, which their author must correct.
public struct ScreenRulesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The location of the mistake, such as `screens[2].parameters[0].type`, or an empty string for the whole file.
    public let place: String
    public let message: String

    init(_ place: String, _ message: String) { (self.place, self.message) = (place, message) }

    public var description: String { self.place.isEmpty ? self.message : "\(self.place): \(self.message)" }
}

extension ScreenRules {
    /// The version of the format of rule files.
    public static let formatVersion = 1

    /// Parses a rule file, which is JSON of version 1 with at most 256 KiB.
    ///
    /// An unknown member is an error, because a misspelt limit would have no effect.
    /// - Throws: ``ScreenRulesError`` with the location of the first mistake.
    public init(json: Data) throws(ScreenRulesError) {
        guard let value = JSONValue(json: json) else {
            throw ScreenRulesError("", Self.explanation(of: json))
        }
        let file = try RuleFileObject(value, at: "")
        guard case .integer(let version)? = file["version"], version == Int64(Self.formatVersion) else {
            throw ScreenRulesError("version", "it must be \(Self.formatVersion)")
        }
        try file.expectOnly(["version", "fallback", "screens"])
        let elements = try file.elements("screens")
        guard elements.count <= Limit.screens else {
            throw ScreenRulesError("screens", "there must be 1 to \(Limit.screens)")
        }
        var screens: [NotificationScreen] = []
        for (index, element) in elements.enumerated() {
            screens.append(try NotificationScreen(try RuleFileObject(element, at: "screens[\(index)]")))
        }
        try self.init(screens: screens, fallback: try file.text("fallback"))
    }

    /// Returns the reason why data is not accepted as JSON, with the position that Foundation reports.
    private static func explanation(of json: Data) -> String {
        let limits = "this is no JSON text of at most 256 KiB, nested at most 32 deep"
        guard json.count <= JSONValue.Bounds.text else { return limits }
        do {
            _ = try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
            return limits
        } catch {
            let detail = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
            return detail.map { "\(limits): \($0.forLog)" } ?? limits
        }
    }
}

extension NotificationScreen {
    fileprivate init(_ members: RuleFileObject) throws(ScreenRulesError) {
        try members.expectOnly(["name", "class", "path", "parameters"])
        var parameters: [Parameter] = []
        if members["parameters"] != nil {
            for (index, element) in try members.elements("parameters").enumerated() {
                parameters.append(try Parameter(try RuleFileObject(element, at: members.place("parameters[\(index)]"))))
            }
        }
        self.init(
            name: try members.text("name"),
            class: members["class"] == nil ? nil : try members.text("class"),
            path: members["path"] == nil ? nil : try members.text("path"),
            parameters: parameters
        )
    }
}

extension NotificationScreen.Parameter {
    fileprivate init(_ members: RuleFileObject) throws(ScreenRulesError) {
        let common: Set<String> = ["name", "type", "required"]
        self.name = try members.text("name")
        switch members["required"] {
        case nil: self.isRequired = true
        case .bool(let isRequired)?: self.isRequired = isRequired
        default: throw ScreenRulesError(members.place("required"), "use true or false")
        }
        switch try members.text("type") {
        case "text":
            try members.expectOnly(common.union(["maximumLength"]))
            let length = try members.integer("maximumLength") ?? 256
            self.type = .text(maximumLength: Int(clamping: length))
        case "integer":
            try members.expectOnly(common.union(["minimum", "maximum"]))
            let (minimum, maximum) = (try members.integer("minimum") ?? .min, try members.integer("maximum") ?? .max)
            guard minimum <= maximum else { throw members.emptyRange }
            self.type = .integer(minimum...maximum)
        case "number":
            try members.expectOnly(common.union(["minimum", "maximum"]))
            let minimum = try members.number("minimum") ?? -.greatestFiniteMagnitude
            let maximum = try members.number("maximum") ?? .greatestFiniteMagnitude
            guard minimum <= maximum else { throw members.emptyRange }
            self.type = .number(minimum...maximum)
        case "choice":
            try members.expectOnly(common.union(["choices"]))
            var choices: [String] = []
            for (index, element) in try members.elements("choices").enumerated() {
                guard case .string(let choice) = element else {
                    throw ScreenRulesError(members.place("choices[\(index)]"), "it must be a text")
                }
                choices.append(choice)
            }
            self.type = .choice(choices)
        case "boolean":
            try members.expectOnly(common)
            self.type = .boolean
        case "date":
            try members.expectOnly(common)
            self.type = .date
        case "uuid":
            try members.expectOnly(common)
            self.type = .uuid
        default:
            throw ScreenRulesError(members.place("type"), "use text, integer, number, boolean, date, uuid or choice")
        }
    }
}

/// An object of a rule file, with checked access to its members.
private struct RuleFileObject {
    private let members: [String: JSONValue]
    private let path: String

    init(_ value: JSONValue, at path: String) throws(ScreenRulesError) {
        guard case .object(let members) = value else { throw ScreenRulesError(path, "it must be an object") }
        (self.members, self.path) = (members, path)
    }

    subscript(name: String) -> JSONValue? { self.members[name] }

    var emptyRange: ScreenRulesError { ScreenRulesError(self.path, "minimum is above maximum") }

    func place(_ name: String) -> String { self.path.isEmpty ? name : "\(self.path).\(name)" }

    func expectOnly(_ names: Set<String>) throws(ScreenRulesError) {
        if let name = self.members.keys.sorted().first(where: { !names.contains($0) }) {
            throw ScreenRulesError(
                self.place(name.forLog),
                "unknown member; known are \(names.sorted().joined(separator: ", "))"
            )
        }
    }

    func text(_ name: String) throws(ScreenRulesError) -> String {
        guard case .string(let text)? = self.members[name] else {
            throw ScreenRulesError(self.place(name), "it must be a text")
        }
        return text
    }

    func elements(_ name: String) throws(ScreenRulesError) -> [JSONValue] {
        guard case .array(let elements)? = self.members[name] else {
            throw ScreenRulesError(self.place(name), "it must be an array")
        }
        return elements
    }

    func integer(_ name: String) throws(ScreenRulesError) -> Int64? {
        guard let value = self.members[name] else { return nil }
        guard case .integer(let number) = value else {
            throw ScreenRulesError(self.place(name), "it must be a whole number")
        }
        return number
    }

    func number(_ name: String) throws(ScreenRulesError) -> Double? {
        switch self.members[name] {
        case nil: return nil
        case .integer(let number)?: return Double(number)
        case .number(let number)?: return number
        default: throw ScreenRulesError(self.place(name), "it must be a number")
        }
    }
}
