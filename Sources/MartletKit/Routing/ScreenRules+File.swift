public import Foundation

extension ScreenRules {
    /// The version of the format of rule files.
    public static let formatVersion = 1

    /// Reads a rule file: JSON of version 1, at most 256 KiB.
    ///
    /// A member that the format does not have is a fault, because a misspelt limit would be no limit.
    /// - Throws: ``ScreenRulesError`` that names the first faulty place.
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

    /// Returns the reason for which a text is no JSON value, with the place that Foundation gives.
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
            throw ScreenRulesError(
                members.place("type"),
                "use text, integer, number, boolean, date, uuid or choice"
            )
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
