/// The screens that notifications may open, and the one to open instead of a refused one.
///
/// They are made in code, or read from a file that an Android app can share (``init(json:)``). Either way they are checked
/// once, so that a router need not doubt them.
public struct ScreenRules: Hashable, Sendable {
    public let screens: [NotificationScreen]
    /// The name of the screen that is opened when a payload is refused. It needs no parameters.
    public let fallback: String

    /// The bounds of a rule file, and of what a payload may ask for.
    enum Limit {
        static let screens = 500
        static let parameters = 32
        /// In bytes, as all lengths are.
        static let name = 64
        static let `class` = 128
        static let path = 1024
        static let pattern = 256
        static let segments = 16
        static let text = 4096
        static let choices = 100
        static let choice = 64
    }

    /// - Throws: ``ScreenRulesError`` that names the first faulty place.
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

/// The fault of screen rules: their author must mend them.
public struct ScreenRulesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The faulty place, such as `screens[2].parameters[0].type`; empty for the whole file.
    public let place: String
    public let message: String

    init(_ place: String, _ message: String) { (self.place, self.message) = (place, message) }

    public var description: String { self.place.isEmpty ? self.message : "\(self.place): \(self.message)" }
}

extension Unicode.Scalar {
    var isControl: Bool { self.properties.generalCategory == .control }
}
